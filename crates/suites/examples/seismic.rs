//! Measures the parts of a seismic answer: finding quakes, answering, and reading the answer.
//!
//! ```text
//! cargo run --release -p castile-suites --example seismic -- document|rpc-encoded|binary SET N [FILE]
//! ```
//!
//! SET is one of the article's runs, such as `.5x10`. All its queries are sent N times, within the process. FILE has other
//! quakes than the synthetic ones. Answering is the whole work of the service: it reads the request, finds quakes, and makes
//! and writes the answer. Reading is decoding and checking each quake.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use castile_suites::seismic::binary::WithBinary;
use castile_suites::seismic::catalogue::Catalogue;
use castile_suites::seismic::queries::SETS;
use castile_suites::seismic::{self, Service};
use http::Request;
use http_body_util::{BodyExt, Full};
use tower_service::Service as _;

const USAGE: &str = "usage: seismic document|rpc-encoded|binary SET N [FILE]";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (style, name, count, file) = match arguments.as_slice() {
        [style, set, count] => (style, set, count, None),
        [style, set, count, file] => (style, set, count, Some(file)),
        _ => return Err(USAGE.into()),
    };
    let count: u32 = count.parse()?;
    let service = match file {
        Some(file) => Service::of(Catalogue::open(Path::new(file))?),
        None => Service::default(),
    };
    let mut routes = WithBinary::new(service.clone(), castile_suites::routes_with(&service));
    let case = seismic::cases().into_iter().find(|case| case.name == *name && case.style.as_ref() == Some(style));
    let set = SETS.into_iter().find(|set| set.name == name);
    let (Some(case), Some(set)) = (case, set) else { return Err(USAGE.into()) };
    let [mut finding, mut answering, mut reading] = [Duration::ZERO; 3];
    let (mut matches, mut bytes) = (0, 0);
    for _ in 0..count {
        for (query, message) in set.queries().zip(case.messages()) {
            let start = Instant::now();
            black_box(service.catalogue().find(&query));
            finding += start.elapsed();

            let request = Request::post(&case.path).header("content-type", &message.content_type);
            let request = request.header("soapaction", "\"\"").body(Full::new(message.body.clone()))?;
            let start = Instant::now();
            let answer: Bytes =
                routes.call(request).await?.into_body().collect().await.map_err(|e| e as Box<dyn Error>)?.to_bytes();
            answering += start.elapsed();

            let start = Instant::now();
            matches += (message.check)(&answer)?;
            reading += start.elapsed();
            bytes += answer.len();
        }
    }
    let answers = count * set.queries as u32;
    println!("{matches} quakes, {bytes} bytes in {answers} answers");
    for (part, time) in [("finding", finding), ("answering", answering), ("reading", reading)] {
        let each = time / answers;
        let per_quake = time.as_nanos() as f64 / matches as f64;
        println!("{part:>10}: {each:>10.1?} an answer, {per_quake:>6.1} ns a quake");
    }
    Ok(())
}
