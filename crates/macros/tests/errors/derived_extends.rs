#[derive(Xml)]
#[xml(namespace = "urn:a", derived, extends = Base)]
enum Shape {
    Circle(Circle),
}
