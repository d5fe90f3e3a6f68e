//! Services of every style: document/literal wrapped and bare, rpc/literal, rpc/encoded, header blocks, WS-Addressing,
//! attachments, strict and lenient.

use castile::http::server::{Options, Routes};
use castile::{Fault, Leniency, Request, Response};
use castile_soap::addressing::Usage;
use castile_suites::seismic::{self, catalogue::Catalogue};
use castile_suites::{attachments, interop, wstest};

use crate::features::{addressing, encoded, header_blocks};

/// The paths to which requests without a head are sent.
pub(super) const PATHS: [&str; 10] = [
    "/encoded",
    "/headers",
    "/addressing",
    "/attachments",
    "/lenient/wstest",
    "/lenient/base",
    "/interop/base",
    "/interop/group-b",
    "/interop/soap12",
    "/wstest",
];

/// A few quakes in some areas. With the suite's synthetic catalogue, a request of a few bytes could ask for 20 MB.
fn quakes() -> seismic::Service {
    let lines: String = (0..60)
        .map(|n| {
            let (day, latitude, area) = (1 + n % 28, n - 30, 1 + n % 20);
            format!("2000-01-{day:02} 01:50:08 70 {latitude} 123.604 59.6 2.5 MB {} {area}\n", 270 + n % 4)
        })
        .collect();
    seismic::Service::of(Catalogue::read(lines.as_bytes()).expect("lines as a catalogue has them"))
}

pub(super) fn routes() -> Routes {
    let mut lenient = Options::default();
    lenient.messages.leniency =
        Some(Leniency::new(|_, deviations| assert!(!deviations.is_empty(), "leniency without a reason")));
    lenient.messages.addressing.usage = Usage::Supported;
    castile_suites::routes_with(&quakes())
        .route("/encoded", encoded::FeatureServer::new(Echo))
        .route("/headers", header_blocks::FeatureServer::new(Echo))
        .route("/addressing", addressing::FeatureServer::new(Echo))
        .route("/attachments", attachments::contract::AttachmentsServer::new(attachments::Service))
        .route(
            "/lenient/wstest",
            wstest::contract::TestServiceSoapServer::with_options(wstest::Service, lenient.clone()),
        )
        .route("/lenient/base", interop::base::InteropBaseServer::with_options(interop::Service, lenient))
}

/// Echoes its requests.
#[derive(Clone)]
struct Echo;

impl addressing::Feature for Echo {
    async fn echo(
        &self,
        request: Request<addressing::Value>,
    ) -> Result<Response<addressing::Value>, Fault<addressing::EchoFault>> {
        match &*request.get_ref().text {
            "" => Err(Fault::sender("nothing").with_detail(addressing::EchoFault::Closed("nothing".into()))),
            _ => Ok(request.into_inner().into()),
        }
    }

    async fn again(
        &self,
        request: Request<addressing::Value>,
    ) -> Result<Response<addressing::Value>, Fault<addressing::AgainFault>> {
        Ok(request.into_inner().into())
    }

    async fn tell(&self, _: Request<addressing::Value>) -> Result<Response<()>, Fault> {
        Ok(().into())
    }
}

impl header_blocks::Feature for Echo {
    async fn echo(
        &self,
        request: Request<header_blocks::Value>,
    ) -> Result<Response<header_blocks::Value>, Fault<header_blocks::EchoFault>> {
        request.header::<header_blocks::Session>()?;
        request.header::<header_blocks::OthersHeader>()?;
        let mut others = request.headers()?;
        others.retain(|block| &*block.block.name().namespace != "urn:header_blocks");
        let response = Response::new(request.into_inner()).with_header(header_blocks::LeftHeader(1));
        Ok(others.into_iter().fold(response, Response::with_header))
    }

    async fn begin(&self, _: Request<()>) -> Result<Response<()>, Fault> {
        Ok(().into())
    }

    async fn ask(&self, request: Request<header_blocks::Value>) -> Result<Response<header_blocks::Value>, Fault> {
        request.header::<header_blocks::Session>()?;
        Ok(request.into_inner().into())
    }

    async fn end(&self, request: Request<()>) -> Result<Response<()>, Fault> {
        request.header::<header_blocks::Session>()?;
        Ok(().into())
    }
}

impl encoded::Feature for Echo {
    async fn echo(&self, request: Request<encoded::EchoRequest>) -> Result<Response<encoded::EchoResponse>, Fault> {
        let request = request.into_inner();
        Ok(encoded::EchoResponse { point: request.point, size: request.size }.into())
    }

    async fn arrays(
        &self,
        request: Request<encoded::ArraysRequest>,
    ) -> Result<Response<encoded::ArraysResponse>, Fault> {
        let encoded::ArraysRequest { ints, points, matrix, rows, nested, names } = request.into_inner();
        Ok(encoded::ArraysResponse { ints, points, matrix, rows, nested, names }.into())
    }

    async fn graph(&self, request: Request<encoded::GraphRequest>) -> Result<Response<encoded::GraphResponse>, Fault> {
        let request = request.into_inner();
        Ok(encoded::GraphResponse { one: request.one, two: request.two }.into())
    }

    async fn animals(
        &self,
        request: Request<encoded::AnimalsRequest>,
    ) -> Result<Response<encoded::AnimalsResponse>, Fault> {
        let request = request.into_inner();
        Ok(encoded::AnimalsResponse { one: request.one, many: request.many }.into())
    }

    async fn open(&self, request: Request<encoded::OpenRequest>) -> Result<Response<encoded::OpenResponse>, Fault> {
        let request = request.into_inner();
        Ok(encoded::OpenResponse { open: request.open }.into())
    }

    async fn ping(&self, _: Request<encoded::PingRequest>) -> Result<Response<encoded::PingResponse>, Fault> {
        Ok(encoded::PingResponse {}.into())
    }

    async fn add(&self, request: Request<encoded::AddRequest>) -> Result<Response<encoded::AddResponse>, Fault> {
        let encoded::AddRequest { a, b } = request.into_inner();
        Ok(encoded::AddResponse { sum: a.zip(b).and_then(|(a, b)| a.checked_add(b)), a: b }.into())
    }

    async fn outcome(
        &self,
        request: Request<encoded::OutcomeRequest>,
    ) -> Result<Response<encoded::OutcomeResponse>, Fault<encoded::OutcomeFault>> {
        let ticket = request.header::<encoded::Point>()?;
        let response = Response::new(encoded::OutcomeResponse { result: request.into_inner().result });
        Ok(match ticket {
            Some(ticket) => response.with_header(ticket),
            None => response,
        })
    }
}
