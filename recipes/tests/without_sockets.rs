//! Tests of a service and of its client, without a socket.

use castile::mime::{Attachments, Part};
use castile::{Request, Response};
use castile_recipes::orders::{Orders, OrdersClient, OrdersServer, QuotaHeader, Session, Upload};
use castile_recipes::{Caller, Shop, order};

type Result = std::result::Result<(), Box<dyn std::error::Error>>;

/// A method is called with a value, as any other function.
#[tokio::test]
async fn a_method() -> Result {
    let session = Session { user: "Ada".into(), language: None };
    let response: Response<_> = Shop.place(Request::new(order(2)).with_header(session)).await?;
    assert_eq!(response.header::<QuotaHeader>()?, Some(QuotaHeader(99)));
    assert_eq!(response.into_inner().number, 7);
    Ok(())
}

/// A request has what a server would have received with it: attachments, here, and who calls.
#[tokio::test]
async fn an_upload() -> Result {
    let document = Part::attachment("text/plain", "It rains.")?;
    let request = Request::new(Upload { number: 7 })
        .with_extension(Caller("Ada".into()))
        .with_attachments(Attachments::of(vec![document])?);
    assert_eq!(Shop.upload(request).await?.into_inner().bytes, 9);
    Ok(())
}

/// A server is a transport: requests and responses are written and read as they are over a socket.
#[tokio::test]
async fn messages() -> Result {
    let client = OrdersClient::with_transport("http://localhost/orders", OrdersServer::new(Shop))?;
    let error = client.place(&order(200)).await.expect_err("so much tea is not there");
    assert_eq!(error.to_string(), "Sender: order less");
    assert_eq!(error.status().map(|status| status.as_u16()), Some(500));
    Ok(())
}
