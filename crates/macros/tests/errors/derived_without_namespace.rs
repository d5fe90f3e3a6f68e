#[derive(Xml)]
#[xml(namespace = "", derived)]
enum Shape {
    Circle(Circle),
}
