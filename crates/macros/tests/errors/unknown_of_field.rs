#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(attr)]
    item: String,
}
