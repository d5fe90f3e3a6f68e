#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(text)]
    note: String,
    item: String,
}
