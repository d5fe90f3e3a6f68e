#[service(namespace = "urn:a")]
trait Orders {
    async fn place(&self, item: String) -> Result<u32, String>;
}
