#[derive(Xml)]
#[xml(namespace = "urn:a")]
enum Never {}
