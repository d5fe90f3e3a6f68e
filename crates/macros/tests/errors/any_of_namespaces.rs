#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Order {
    #[xml(any = "urn:b ##targetNamespace")]
    rest: AnyElements,
}
