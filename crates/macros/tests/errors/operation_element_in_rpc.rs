#[service(namespace = "urn:a", rpc)]
trait Orders {
    #[soap(element = "x")]
    async fn place(&self, item: String);
}
