#[derive(Xml)]
#[xml(namespace = "urn:a", derived)]
enum Shape {
    #[xml(itself, name = "Plain")]
    Plain(Plain),
}
