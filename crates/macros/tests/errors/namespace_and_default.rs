#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(namespace = "urn:b", default = "x")]
    note: String,
}
