#[derive(Xml)]
#[xml(namespace = "urn:a", all)]
struct Order {
    item: String,
    #[xml(name = "item")]
    other: String,
}
