#[service(namespace = "urn:a")]
trait Orders {
    type Item;
}
