#[derive(Xml)]
#[xml(namespace = "urn:a", max_length = 4)]
struct Order {
    note: String,
}
