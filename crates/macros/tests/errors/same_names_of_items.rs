#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(items)]
    item: Vec<String>,
    note: String,
    #[xml(name = "item")]
    other: String,
}
