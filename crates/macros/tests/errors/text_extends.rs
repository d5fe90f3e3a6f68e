#[derive(Xml)]
#[xml(namespace = "urn:a", extends = Base)]
struct Note {
    #[xml(text)]
    text: String,
}
