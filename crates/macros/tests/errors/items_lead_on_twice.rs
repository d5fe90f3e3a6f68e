#[derive(castile::Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(items)]
    first: Lines,
    #[xml(items)]
    second: Lines,
}
