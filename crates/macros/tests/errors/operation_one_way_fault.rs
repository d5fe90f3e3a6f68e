#[service(namespace = "urn:a")]
trait Orders {
    #[soap(one_way)]
    async fn forget(&self, item: String) -> Result<(), Fault<SoldOut>>;
}
