#[derive(Xml)]
#[xml(namespace = "urn:a", derived)]
enum Shape {
    #[xml(itself)]
    Plain(Plain),
    Circle(Nillable<Circle>),
}
