#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    scan: Vec<u8>,
}
