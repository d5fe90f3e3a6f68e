#[service(namespace = "urn:a")]
trait Orders {
    #[soap(soap_action = "x")]
    async fn place(&self, item: String);
}
