//! Services of every style: document/literal wrapped and bare, rpc/literal, rpc/encoded, header blocks, WS-Addressing,
//! attachments, strict and lenient.

use castile::http::server::{Options, Routes};
use castile::soap::addressing::Usage;
use castile::{Context, Fault, Leniency};
use castile_suites::seismic::{self, catalogue::Catalogue};
use castile_suites::{attachments, interop, wstest};

use crate::features::{addressing, encoded, header_blocks};

/// Where the services are that requests without a head go to.
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

/// A few quakes in each of some areas. Of those that the suite makes up, a request of a few bytes may ask for 20 MB.
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
    lenient.leniency =
        Some(Leniency::new(|_, deviations| assert!(!deviations.is_empty(), "leniency without a reason")));
    lenient.addressing.usage = Usage::Supported;
    castile_suites::routes_with(&quakes())
        .route("/encoded", encoded::FeatureServer::new(Echo).into())
        .route("/headers", header_blocks::FeatureServer::new(Echo).into())
        .route("/addressing", addressing::FeatureServer::new(Echo).into())
        .route("/attachments", attachments::contract::AttachmentsServer::new(attachments::Service).into())
        .route(
            "/lenient/wstest",
            wstest::contract::TestServiceSoapServer::with_options(wstest::Service, lenient.clone()).into(),
        )
        .route("/lenient/base", interop::base::InteropBaseServer::with_options(interop::Service, lenient).into())
}

/// What comes goes back.
#[derive(Clone)]
struct Echo;

impl addressing::Feature for Echo {
    async fn echo(
        &self,
        request: addressing::Value,
        _: &Context,
    ) -> Result<addressing::Value, Fault<addressing::EchoFault>> {
        match &*request.text {
            "" => Err(Fault::sender("nothing").with_detail(addressing::EchoFault::Closed("nothing".into()))),
            _ => Ok(request),
        }
    }

    async fn again(&self, request: addressing::Value, _: &Context) -> Result<addressing::Value, Fault> {
        Ok(request)
    }

    async fn tell(&self, _: addressing::Value, _: &Context) -> Result<(), Fault> {
        Ok(())
    }
}

impl header_blocks::Feature for Echo {
    async fn echo(
        &self,
        request: header_blocks::Value,
        header: header_blocks::EchoRequestHeader,
    ) -> Result<(header_blocks::Value, header_blocks::EchoResponseHeader), Fault<header_blocks::EchoFault>> {
        Ok((request, header_blocks::EchoResponseHeader { left: Some(1), others: header.others2 }))
    }

    async fn begin(&self) -> Result<header_blocks::FeatureHeader, Fault> {
        Ok(header_blocks::FeatureHeader::default())
    }

    async fn ask(
        &self,
        request: header_blocks::Value,
        _: header_blocks::FeatureHeader,
    ) -> Result<header_blocks::Value, Fault> {
        Ok(request)
    }

    async fn end(&self, _: header_blocks::FeatureHeader) -> Result<(), Fault> {
        Ok(())
    }
}

impl encoded::Feature for Echo {
    async fn echo(&self, request: encoded::EchoRequest) -> Result<encoded::EchoResponse, Fault> {
        Ok(encoded::EchoResponse { point: request.point, size: request.size })
    }

    async fn arrays(&self, request: encoded::ArraysRequest) -> Result<encoded::ArraysResponse, Fault> {
        let encoded::ArraysRequest { ints, points, matrix, rows, nested, names } = request;
        Ok(encoded::ArraysResponse { ints, points, matrix, rows, nested, names })
    }

    async fn graph(&self, request: encoded::GraphRequest) -> Result<encoded::GraphResponse, Fault> {
        Ok(encoded::GraphResponse { one: request.one, two: request.two })
    }

    async fn animals(&self, request: encoded::AnimalsRequest) -> Result<encoded::AnimalsResponse, Fault> {
        Ok(encoded::AnimalsResponse { one: request.one, many: request.many })
    }

    async fn open(&self, request: encoded::OpenRequest) -> Result<encoded::OpenResponse, Fault> {
        Ok(encoded::OpenResponse { open: request.open })
    }

    async fn ping(&self, _: encoded::PingRequest) -> Result<encoded::PingResponse, Fault> {
        Ok(encoded::PingResponse {})
    }

    async fn add(&self, request: encoded::AddRequest) -> Result<encoded::AddResponse, Fault> {
        let encoded::AddRequest { a, b } = request;
        Ok(encoded::AddResponse { sum: a.zip(b).and_then(|(a, b)| a.checked_add(b)), a: b })
    }

    async fn outcome(
        &self,
        request: encoded::OutcomeRequest,
        header: encoded::FeatureHeader,
    ) -> Result<(encoded::OutcomeResponse, encoded::FeatureHeader), Fault<encoded::OutcomeFault>> {
        Ok((encoded::OutcomeResponse { result: request.result }, header))
    }
}
