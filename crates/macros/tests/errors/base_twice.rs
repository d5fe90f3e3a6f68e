#[derive(Xml)]
#[xml(namespace = "urn:a", derived)]
enum Shape {
    #[xml(base)]
    Plain(Plain),
    #[xml(base)]
    Simple(Simple),
}
