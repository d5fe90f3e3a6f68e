//! Tests the layers of the example `layers`.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

#[path = "../examples/layers.rs"]
#[allow(dead_code, reason = "its `main` runs as the example")]
mod layers;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use castile_soap::{Layer, Options, Pending, ReplyMessage, RequestMessage, Service, Version};
use layers::{ApiKeys, Caller};

/// Records the callers.
struct Noting(Arc<Mutex<Vec<String>>>);

impl Service for Noting {
    fn description(&self) -> &'static castile_soap::Description {
        unreachable!("nobody asks")
    }

    fn call(&self, request: RequestMessage, _: &Options) -> Pending {
        self.0.lock().unwrap().push(request.extensions.get().map_or("nobody", |Caller(name)| name).to_owned());
        Box::pin(std::future::ready(ReplyMessage::empty(request.version)))
    }
}

#[tokio::test]
async fn requests_without_a_key_are_rejected() {
    let seen = Arc::default();
    let keys = HashMap::from([("right".to_owned(), Caller("Ada".to_owned()))]);
    let service = ApiKeys(Arc::new(keys)).layer(Noting(Arc::clone(&seen)));
    for (header, is_refused) in [
        ("<k:key xmlns:k='urn:example:keys'>right</k:key>", false),
        ("<k:key xmlns:k='urn:example:keys'>wrong</k:key>", true),
        ("<key>right</key>", true),
        ("", true),
        ("<", true),
    ] {
        for version in Version::ALL {
            let namespace = version.namespace();
            let message =
                format!("<s:Envelope xmlns:s='{namespace}'><s:Header>{header}</s:Header><s:Body/></s:Envelope>");
            let reply = service.call(RequestMessage::new(version, message), &Options::default()).await;
            assert_eq!(reply.is_fault(), is_refused, "{header}");
            assert_eq!(reply.version, version);
        }
    }
    assert_eq!(*seen.lock().unwrap(), ["Ada", "Ada"]);
}
