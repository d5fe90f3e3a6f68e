#[derive(Xml)]
struct Order {
    item: String,
}
