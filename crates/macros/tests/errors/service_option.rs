#[service(namespace = "urn:a", style = "rpc")]
trait Orders {
    async fn place(&self, item: String);
}
