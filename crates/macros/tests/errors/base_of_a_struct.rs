#[derive(Xml)]
#[xml(namespace = "urn:a", extends = Shape)]
struct Circle {
    #[xml(base)]
    shape: Shape,
    radius: i32,
}
