#[derive(Xml)]
#[xml(namespace = "urn:a")]
enum Payment {
    #[xml(wrap = "cards")]
    Card(Vec<String>),
}
