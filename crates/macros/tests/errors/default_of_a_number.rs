#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(attribute, default = "abc")]
    count: i32,
}
