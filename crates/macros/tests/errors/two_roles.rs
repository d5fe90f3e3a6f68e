#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(text, attribute)]
    note: String,
}
