#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    item: Option<String>,
    note: Option<String>,
    #[xml(name = "item")]
    other: String,
}
