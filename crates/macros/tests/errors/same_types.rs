#[derive(Xml)]
#[xml(namespace = "urn:a", derived)]
enum Shape {
    Circle(Circle),
    #[xml(name = "Circle")]
    Round(Circle),
}
