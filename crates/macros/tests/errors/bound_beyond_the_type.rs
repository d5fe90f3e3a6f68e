#[derive(Xml)]
#[xml(namespace = "urn:a", max_inclusive = 300)]
struct Percent(u8);
