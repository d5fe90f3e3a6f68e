#[service(namespace = "urn:a")]
trait Orders {
    async fn cancel(&self, number: u64);
    async fn submit(&self, request: CancelRequest);
}
