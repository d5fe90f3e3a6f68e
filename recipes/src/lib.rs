//! A contract and its service.

use bytes::Bytes;
use castile::datatypes::Date;
use castile::mime::{Content, Part};
use castile::{Fault, Nillable, Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;

/// What the build script made of `contracts/orders.wsdl`.
pub mod orders {
    castile::include_contract!("orders");
}
use orders::*;

/// What the build script made of `contracts/photos.wsdl`.
pub mod photos {
    castile::include_contract!("photos");
}

pub mod certificates;

/// The caller. A layer or a middleware puts it into the extensions of the request, where methods find it.
#[derive(Clone, Debug)]
pub struct Caller(pub String);

/// A shop that sells tea.
#[derive(Clone, Copy, Debug)]
pub struct Shop;

impl Orders for Shop {
    async fn place(&self, request: Request<Place>) -> Result<Response<PlaceResponse>, Fault<PlaceFault>> {
        let is_known = request.header::<Session>()?.is_some() || request.extensions().get::<Caller>().is_some();
        let order = request.into_inner();
        if order.customer == "nobody" {
            let detail = PlaceFault::UnknownCustomer(order.customer);
            return Err(Fault::sender("register first").with_detail(detail));
        }
        if let Some(line) = order.line.iter().find(|line| line.quantity > 100) {
            let detail = PlaceFault::SoldOut(SoldOut { item: line.item.clone(), left: 100 });
            return Err(Fault::sender("order less").with_detail(detail));
        }
        let ready = match order.priority {
            Priority::Express => order.due.map_or(Nillable::Nil, Nillable::Value),
            _ => Nillable::Nil,
        };
        let response = Response::new(PlaceResponse { number: 7, ready });
        Ok(if is_known { response.with_header(QuotaHeader(99)) } else { response })
    }

    async fn upload(&self, mut request: Request<Upload>) -> Result<Response<UploadResponse>, Fault> {
        let Some(mut document) = request.attachments().next().await? else {
            return Err(Fault::sender("attach a document"));
        };
        let mut bytes = 0;
        while let Some(data) = document.data().await? {
            bytes += data.len() as i64;
        }
        Ok(UploadResponse { bytes }.into())
    }

    async fn download(&self, _: Request<Download>) -> Result<Response<DownloadResponse>, Fault> {
        let pages = (1..=3).map(|page| Ok::<_, std::io::Error>(Frame::data(Bytes::from(format!("page {page}\n")))));
        let content = Content::stream(StreamBody::new(futures_util::stream::iter(pages)));
        let document = Part::attachment("application/pdf", content)?;
        Ok(Response::new(DownloadResponse { name: "invoice".into() }).with_attachment(document))
    }
}

/// An order of tea, which the recipes place.
pub fn order(quantity: i32) -> Place {
    Place {
        customer: "Ada".into(),
        priority: Priority::Express,
        due: "2026-11-24".parse::<Date>().ok(),
        line: vec![Line { item: "tea".into(), quantity }],
        choice: PlaceChoice::Pickup("Baker Street".into()),
    }
}
