#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(repeated)]
    line: Option<String>,
}
