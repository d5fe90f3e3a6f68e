#[service(namespace = "urn:a")]
trait Orders {
    async fn place(&self, (item, count): (String, u32));
}
