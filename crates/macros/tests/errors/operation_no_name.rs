#[service(namespace = "urn:a")]
trait Orders {
    #[soap(name = "1st")]
    async fn first(&self, item: String);
}
