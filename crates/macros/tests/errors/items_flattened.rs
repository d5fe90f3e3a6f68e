#[derive(castile::Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(flatten, items)]
    line: Vec<Line>,
}
