#[service(namespace = "urn:a")]
trait Orders<T> {
    async fn place(&self, item: T);
}
