//! Two layers around a service: one rejects requests without an API key, and the other logs messages without
//! secrets.
//!
//! `cargo run -p castile-suites --example layers`

use std::collections::HashMap;
use std::sync::Arc;

use castile::soap::{Description, Layer, MessageLog, Options, Pending, Redaction, RequestMessage, Service};
use castile::{Any, AnyHeader, Fault, NoDetail, Request, Response};

mod codec {
    castile::include_contract!("codec");
}
use codec::*;

/// Accepts requests whose header has a known key:
///
/// ```xml
/// <k:key xmlns:k="urn:example:keys" soap:mustUnderstand="1">…</k:key>
/// ```
#[derive(Clone)]
pub struct ApiKeys(pub Arc<HashMap<String, Caller>>);

/// The caller. Methods find it in the extensions of their request.
#[derive(Clone, Debug)]
pub struct Caller(pub String);

impl<S> Layer<S> for ApiKeys {
    type Service = Keyed<S>;

    fn layer(&self, service: S) -> Keyed<S> {
        Keyed { service, keys: self.clone() }
    }
}

/// A service that is protected by [`ApiKeys`].
pub struct Keyed<S> {
    service: S,
    keys: ApiKeys,
}

impl<S: Service> Service for Keyed<S> {
    fn description(&self) -> &'static Description {
        self.service.description()
    }

    fn call(&self, mut request: RequestMessage, options: &Options) -> Pending {
        // A message that is not an envelope has no header. The inner service would report what is wrong with it,
        // but only to callers with a key.
        let header = request.headers(options).unwrap_or_default();
        let key = header.iter().map(|header| &header.block).find(|block| {
            let name = block.name();
            name.is("urn:example:keys", "key")
        });
        let caller = key.and_then(|key| key.read::<String>().ok()).and_then(|key| self.keys.0.get(&key));
        let Some(caller) = caller else {
            let fault = Fault::<NoDetail>::sender("a header block with a known API key is missing");
            return request.refuse(options, &fault.about_header());
        };
        request.understand("urn:example:keys", "key");
        request.extensions.insert(caller.clone());
        self.service.call(request, options)
    }
}

struct Echo;

impl Codec for Echo {
    async fn echo_structs(&self, request: Request<EchoStructs>) -> Result<Response<EchoStructsResponse>, Fault> {
        Ok(EchoStructsResponse { item: request.into_inner().item }.into())
    }

    async fn order(&self, _: Request<Order>) -> Result<Response<OrderResponse>, Fault> {
        Ok(OrderResponse {}.into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let keys = HashMap::from([("open-sesame".to_owned(), Caller("Ada".to_owned()))]);
    let redaction = Redaction::none().element("urn:example:keys", "key").element("http://example.com/bench", "s");
    let log = MessageLog::new(redaction, |direction, message| println!("{direction:?}: {message}"));
    // The last layer is outermost, so rejected requests are logged too.
    let endpoint = CodecServer::new(Echo).layer(ApiKeys(Arc::new(keys))).layer(log);

    let client = CodecClient::with_transport("http://localhost/codec", endpoint)?;
    let secret = Item { i: 1, f: 0.5, s: "secret".into() };
    let request = EchoStructs { item: vec![secret] };
    for key in ["open-sesame", "let-me-in"] {
        let key = Any::parse(&format!("<key xmlns='urn:example:keys'>{key}</key>"))?;
        let key = AnyHeader::from(key).must_understand();
        match client.echo_structs(&request).header(&key).await {
            Ok(_) => println!("answered\n"),
            Err(error) => println!("{error}\n"),
        }
    }
    Ok(())
}
