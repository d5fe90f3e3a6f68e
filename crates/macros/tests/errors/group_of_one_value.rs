#[derive(Xml)]
#[xml(namespace = "urn:a", group)]
struct Code(String);
