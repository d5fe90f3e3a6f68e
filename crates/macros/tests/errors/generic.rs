#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Page<T> {
    items: Vec<T>,
}
