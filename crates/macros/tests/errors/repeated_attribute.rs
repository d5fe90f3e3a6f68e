#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(attribute)]
    note: Vec<String>,
}
