#[derive(Xml)]
#[xml(namespace = "urn:a", extends = Other)]
struct Code(String);
