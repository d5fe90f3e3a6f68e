#[service(namespace = "urn:a", soap = "1.1, 1.1")]
trait Orders {
    async fn place(&self, item: String);
}
