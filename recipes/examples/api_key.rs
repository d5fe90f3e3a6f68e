//! Rejects requests without a known API key, which is in a header block:
//!
//! ```xml
//! <key xmlns="urn:example:keys" soap:mustUnderstand="1">open-sesame</key>
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use castile::soap::{Next, RequestMessage, from_fn};
use castile::{ClientOptions, Fault, Header};
use castile_recipes::orders::{OrdersClient, OrdersServer, QuotaHeader};
use castile_recipes::{Caller, Shop, order};

castile::header! {
    /// The key of whoever asks.
    struct ApiKey(String) = "urn:example:keys", "key";
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let keys = Arc::new(HashMap::from([("open-sesame".to_owned(), Caller("Ada".to_owned()))]));
    let keyed = from_fn(move |mut request: RequestMessage, next: Next| {
        let keys = keys.clone();
        async move {
            let key = request.header::<ApiKey>(next.options()).ok().flatten();
            let Some(caller) = key.and_then(|ApiKey(key)| keys.get(&key)) else {
                let fault = Fault::sender("the API key is missing or unknown").about_header();
                return request.refuse(next.options(), &fault).await;
            };
            // Otherwise the service refuses a block that says `mustUnderstand`.
            request.understand("urn:example:keys", "key");
            // The methods of the service find this in the extensions of their request.
            request.extensions.insert(caller.clone());
            next.run(request).await
        }
    });
    let server = OrdersServer::new(Shop).layer(keyed);
    let client = OrdersClient::with_transport("http://localhost/orders", server)?;

    let key = ApiKey("open-sesame".into()).must_understand();
    let with_key = client.clone().with_options(ClientOptions::default().with_header(key));

    let response = with_key.place(&order(2)).send().await?;
    println!("{:?}", response.header::<QuotaHeader>()?);
    println!("{}", client.place(&order(2)).await.expect_err("it has no key"));
    Ok(())
}
