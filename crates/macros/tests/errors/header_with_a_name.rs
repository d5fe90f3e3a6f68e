#[service(namespace = "urn:a")]
trait Orders {
    async fn place(&self, #[soap(header)] #[xml(name = "s")] session: Session);
}
