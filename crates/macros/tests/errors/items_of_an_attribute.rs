#[derive(castile::Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(attribute, items)]
    number: u32,
}
