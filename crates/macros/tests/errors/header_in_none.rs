#[derive(Header)]
#[xml(namespace = "")]
struct Session {
    key: String,
}
