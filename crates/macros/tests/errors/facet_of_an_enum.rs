#[derive(Xml)]
#[xml(namespace = "urn:a", max_length = 3)]
enum Size {
    Small,
    Large,
}
