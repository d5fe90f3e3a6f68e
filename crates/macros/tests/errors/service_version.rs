#[service(namespace = "urn:a", soap = "1.3")]
trait Orders {
    async fn place(&self, item: String);
}
