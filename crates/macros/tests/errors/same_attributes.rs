#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(attribute)]
    a: i32,
    #[xml(attribute, name = "a")]
    b: i32,
}
