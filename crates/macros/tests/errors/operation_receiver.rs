#[service(namespace = "urn:a")]
trait Orders {
    async fn place(&mut self, item: String);
}
