#[service(namespace = "urn:a")]
trait Orders {}
