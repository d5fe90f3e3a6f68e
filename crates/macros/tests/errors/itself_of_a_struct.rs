#[derive(Xml)]
#[xml(namespace = "urn:a", extends = Shape)]
struct Circle {
    #[xml(itself)]
    shape: Shape,
    radius: i32,
}
