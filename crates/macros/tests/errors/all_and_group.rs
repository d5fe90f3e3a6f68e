#[derive(Xml)]
#[xml(namespace = "urn:a", all, group)]
struct Names {
    first: String,
}
