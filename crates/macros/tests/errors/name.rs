#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(name = "two words")]
    item: String,
}
