#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(flatten, with = AsText)]
    line: Line,
}
