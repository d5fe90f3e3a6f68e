#[derive(Xml)]
#[xml(namespace = "urn:a", max_length = "many")]
struct Code(String);
