#[derive(Xml)]
#[xml(namespace = "urn:a", max_length = 3)]
struct Percent(u8);
