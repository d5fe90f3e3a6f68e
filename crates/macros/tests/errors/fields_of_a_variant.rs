#[derive(Xml)]
#[xml(namespace = "urn:a")]
enum Payment {
    Card { number: String },
}
