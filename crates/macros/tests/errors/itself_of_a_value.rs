#[derive(Xml)]
#[xml(namespace = "urn:a")]
enum Status {
    #[xml(itself)]
    New,
    Sent,
}
