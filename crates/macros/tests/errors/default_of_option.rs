#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(attribute, default = "x")]
    note: Option<String>,
}
