#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(min = 2)]
    note: String,
}
