#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    item: String,
    #[xml(name = "item")]
    other: i32,
}
