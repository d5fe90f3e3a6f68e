#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(any)]
    rest: Vec<Any>,
}
