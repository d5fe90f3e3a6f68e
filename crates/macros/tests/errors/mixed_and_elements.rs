#[derive(Xml)]
#[xml(namespace = "urn:a")]
struct Paragraph {
    #[xml(mixed)]
    content: Vec<Piece>,
    more: String,
}
