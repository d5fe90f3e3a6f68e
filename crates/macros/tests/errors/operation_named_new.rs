#[service(namespace = "urn:a")]
trait Orders {
    async fn new(&self, item: String);
}
