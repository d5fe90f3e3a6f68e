#[derive(Xml)]
#[xml(namespace = "urn:a", group)]
struct Names {
    #[xml(attribute)]
    note: String,
}
