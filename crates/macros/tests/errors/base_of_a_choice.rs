#[derive(Xml)]
#[xml(namespace = "urn:a")]
enum Payment {
    #[xml(base)]
    Card(Card),
}
