#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Pair(String, i32);
