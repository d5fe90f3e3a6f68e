#[derive(FaultDetail)]
#[xml(namespace = "urn:a")]
enum Refusal {
    #[xml(other)]
    Other(String),
}
