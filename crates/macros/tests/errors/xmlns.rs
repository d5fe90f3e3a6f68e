#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(attribute)]
    xmlns: String,
}
