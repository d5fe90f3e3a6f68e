#[derive(Xml)]
#[xml(namespace = "urn:a", pattern = "[a-")]
struct Code(String);
