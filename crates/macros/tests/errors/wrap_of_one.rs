#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(wrap = "lines")]
    line: String,
}
