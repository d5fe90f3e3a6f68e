#[service(namespace = "urn:a")]
trait Orders {
    async fn place(&self, request: Request<Order>, count: u32);
}
