#[derive(Xml)]
#[xml(namespace = "urn:a", all)]
enum Payment {
    Card(String),
}
