#[derive(Xml)]
#[xml(namespace = "urn:a")]
enum Status {
    #[xml(name = "in transit")]
    Sent,
    #[xml(name = "in transit")]
    OnItsWay,
}
