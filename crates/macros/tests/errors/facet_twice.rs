#[derive(Xml)]
#[xml(namespace = "urn:a", max_length = 3, max_length = 4)]
struct Code(String);
