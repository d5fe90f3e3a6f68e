#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(attribute, default = "x", fixed = "y")]
    note: String,
}
