#[derive(Xml)]
#[xml(namespace = "urn:a", rename = "b")]
struct Order {
    item: String,
}
