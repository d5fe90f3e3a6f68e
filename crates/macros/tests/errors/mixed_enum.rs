#[derive(Xml)]
#[xml(namespace = "urn:a")]
enum Payment {
    Cash,
    Card(String),
}
