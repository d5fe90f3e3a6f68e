#[derive(Xml)]
#[xml(namespace = "urn:a", derived)]
struct Shape {
    size: i32,
}
