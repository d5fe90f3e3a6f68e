#[derive(Xml)]
#[xml(namespace = "urn:a", max_inclusive = 3)]
struct Code(String);
