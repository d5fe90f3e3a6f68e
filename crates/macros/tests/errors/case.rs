#[derive(Xml)]
#[xml(namespace = "urn:a", rename_all = "kebab-case")]
struct Order {
    item: String,
}
