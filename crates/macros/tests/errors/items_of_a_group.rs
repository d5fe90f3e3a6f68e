#[derive(castile::Xml)]
#[xml(namespace = "urn:a", group)]
struct Order {
    #[xml(items)]
    line: Vec<Line>,
    number: u32,
}
