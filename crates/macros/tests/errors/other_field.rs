#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(other)]
    rest: String,
}
