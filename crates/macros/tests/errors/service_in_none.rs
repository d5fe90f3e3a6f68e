#[service(namespace = "")]
trait Orders {
    async fn place(&self, item: String);
}
