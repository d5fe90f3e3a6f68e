#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Payment {
    _3d_secure: bool,
}
