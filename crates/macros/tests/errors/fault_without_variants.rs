#[derive(FaultDetail)]
#[xml(namespace = "urn:a")]
enum Refusal {}
