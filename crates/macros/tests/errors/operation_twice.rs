#[service(namespace = "urn:a")]
trait Orders {
    async fn place(&self, item: String);
    #[soap(name = "place")]
    async fn put(&self, item: String);
}
