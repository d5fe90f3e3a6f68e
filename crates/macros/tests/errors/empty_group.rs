#[derive(Xml)]
#[xml(namespace = "urn:a", group)]
struct Extra {
    note: Option<String>,
}
