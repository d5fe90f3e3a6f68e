#[derive(Xml)]
#[xml(namespace = "urn:a")]
enum Payment {
    #[xml(attribute)]
    Card(String),
}
