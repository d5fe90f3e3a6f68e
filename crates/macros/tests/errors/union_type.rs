#[derive(Xml)]
#[xml(namespace = "urn:a")]
union Both {
    a: u32,
    b: f32,
}
