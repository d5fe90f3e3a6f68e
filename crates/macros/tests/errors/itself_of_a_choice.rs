#[derive(Xml)]
#[xml(namespace = "urn:a")]
enum Payment {
    #[xml(itself)]
    Card(Card),
}
