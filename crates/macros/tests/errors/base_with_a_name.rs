#[derive(Xml)]
#[xml(namespace = "urn:a", derived)]
enum Shape {
    #[xml(base, name = "Plain")]
    Plain(Plain),
}
