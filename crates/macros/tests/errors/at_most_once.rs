#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(max = 1)]
    note: Vec<String>,
}
