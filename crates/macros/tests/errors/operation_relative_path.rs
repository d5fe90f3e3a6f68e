#[service(namespace = "urn:a")]
trait Orders {
    async fn place(&self, order: super::Order);
}
