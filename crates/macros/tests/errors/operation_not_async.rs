#[service(namespace = "urn:a")]
trait Orders {
    fn place(&self, item: String);
}
