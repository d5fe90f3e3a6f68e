#[service(namespace = "urn:a")]
trait Orders {
    #[soap(one_way)]
    async fn place(&self, item: String) -> u32;
}
