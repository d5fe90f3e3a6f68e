#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(flatten, namespace = "urn:b")]
    note: Note,
}
