#[derive(Xml)]
#[xml(namespace = "urn:a", namespace = "urn:b")]
struct Order {
    item: String,
}
