#[derive(Xml)]
#[xml(namespace = "urn:a", all)]
struct Order {
    note: Vec<String>,
}
