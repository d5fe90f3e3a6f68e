#[derive(Xml)]
#[xml(namespace = "urn:a", white_space = "trim")]
struct Code(String);
