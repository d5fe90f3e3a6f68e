#[derive(Xml)]
#[xml(namespace = "urn:a")]
enum Piece {
    #[xml(text)]
    Text(i32),
    Bold(String),
}
