//! Benchmark1: the document/literal version of Indiana University's benchmark, which the Axis2/C report of 2008
//! drove with `ab`.

use castile::{Fault, Request, Response};
use castile_load::Case;
use castile_report::{Method, Published, PublishedFigure};

use crate::case::Port;
use crate::client::Counting;

pub mod round2;

/// The contract, generated.
pub mod contract {
    castile::include_contract!("benchmark1");
}

use contract::*;

/// The path of the service.
pub const PATH: &str = "/benchmark1";

/// The largest array of a `send` operation, by the contract.
const MAX_SIZE: i32 = 100_000;

/// The service of the benchmark: it echoes values through its own types, counts elements, or makes arrays.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service;

impl Benchmark for Service {
    async fn echo_void(&self, _: Request<EchoVoid>) -> Result<Response<EchoVoidResponse>, Fault> {
        Ok(EchoVoidResponse {}.into())
    }

    async fn echo_base64(&self, request: Request<EchoBase64>) -> Result<Response<EchoBase64Response>, Fault> {
        Ok(EchoBase64Response { echo_base64_return: request.into_inner().input }.into())
    }

    async fn echo_strings(&self, request: Request<EchoStrings>) -> Result<Response<EchoStringsResponse>, Fault> {
        Ok(EchoStringsResponse { echo_strings_return: request.into_inner().input }.into())
    }

    async fn echo_ints(&self, request: Request<EchoInts>) -> Result<Response<EchoIntsResponse>, Fault> {
        Ok(EchoIntsResponse { echo_ints_return: request.into_inner().input }.into())
    }

    async fn echo_doubles(&self, request: Request<EchoDoubles>) -> Result<Response<EchoDoublesResponse>, Fault> {
        Ok(EchoDoublesResponse { echo_doubles_return: request.into_inner().input }.into())
    }

    async fn echo_mesh_interface_objects(
        &self,
        request: Request<EchoMeshInterfaceObjectsRequest>,
    ) -> Result<Response<EchoMeshInterfaceObjectsResponse>, Fault> {
        Ok(EchoMeshInterfaceObjectsResponse { echo_mesh_interface_object_return: request.into_inner().input }.into())
    }

    async fn echo_simple_events(
        &self,
        request: Request<EchoSimpleEventsRequest>,
    ) -> Result<Response<EchoSimpleEventsResponse>, Fault> {
        Ok(EchoSimpleEventsResponse { echo_simple_events_return: request.into_inner().input }.into())
    }

    async fn receive_base64(&self, request: Request<ReceiveBase64>) -> Result<Response<ReceiveBase64Response>, Fault> {
        Ok(ReceiveBase64Response { receive_base64_return: count(request.into_inner().input.0.len()) }.into())
    }

    async fn receive_strings(
        &self,
        request: Request<ReceiveStrings>,
    ) -> Result<Response<ReceiveStringsResponse>, Fault> {
        Ok(ReceiveStringsResponse { receive_strings_return: count(request.into_inner().input.len()) }.into())
    }

    async fn receive_ints(&self, request: Request<ReceiveInts>) -> Result<Response<ReceiveIntsResponse>, Fault> {
        Ok(ReceiveIntsResponse { receive_ints_return: count(request.into_inner().input.len()) }.into())
    }

    async fn receive_doubles(
        &self,
        request: Request<ReceiveDoubles>,
    ) -> Result<Response<ReceiveDoublesResponse>, Fault> {
        Ok(ReceiveDoublesResponse { receive_doubles_return: count(request.into_inner().input.len()) }.into())
    }

    async fn receive_mesh_interface_objects(
        &self,
        request: Request<ReceiveMeshInterfaceObjectsRequest>,
    ) -> Result<Response<ReceiveMeshInterfaceObjectsResponse>, Fault> {
        let received = count(request.into_inner().input.item.len());
        Ok(ReceiveMeshInterfaceObjectsResponse { receive_mesh_interface_objects_return: received }.into())
    }

    async fn receive_simple_events(
        &self,
        request: Request<ReceiveSimpleEventsRequest>,
    ) -> Result<Response<ReceiveSimpleEventsResponse>, Fault> {
        Ok(ReceiveSimpleEventsResponse { receive_simple_events_return: count(request.into_inner().input.item.len()) }
            .into())
    }

    async fn send_base64(&self, request: Request<SendBase64>) -> Result<Response<SendBase64Response>, Fault> {
        let bytes: Vec<u8> = numbers(request.into_inner().size, 0)?.map(|i| i as u8).collect();
        Ok(SendBase64Response { send_base64_return: bytes.into() }.into())
    }

    async fn send_strings(&self, request: Request<SendStrings>) -> Result<Response<SendStringsResponse>, Fault> {
        Ok(SendStringsResponse { send_strings_return: numbers(request.into_inner().size, 1)?.map(string).collect() }
            .into())
    }

    async fn send_ints(&self, request: Request<SendInts>) -> Result<Response<SendIntsResponse>, Fault> {
        Ok(SendIntsResponse { send_ints_return: numbers(request.into_inner().size, 1)?.collect() }.into())
    }

    async fn send_doubles(&self, request: Request<SendDoubles>) -> Result<Response<SendDoublesResponse>, Fault> {
        Ok(SendDoublesResponse { send_doubles_return: numbers(request.into_inner().size, 1)?.map(f64::from).collect() }
            .into())
    }

    async fn send_mesh_interface_objects(
        &self,
        request: Request<SendMeshInterfaceObjectsRequest>,
    ) -> Result<Response<SendMeshInterfaceObjectsResponse>, Fault> {
        let item = numbers(request.into_inner().size, 0)?.map(|i| mesh(i).into()).collect();
        Ok(SendMeshInterfaceObjectsResponse { send_mesh_interface_objects_return: ArrayOfMeshInterfaceObject { item } }
            .into())
    }

    async fn send_simple_events(
        &self,
        request: Request<SendSimpleEventsRequest>,
    ) -> Result<Response<SendSimpleEventsResponse>, Fault> {
        let item = numbers(request.into_inner().size, 0)?.map(|i| event(i).into()).collect();
        Ok(SendSimpleEventsResponse { send_simple_events_return: ArrayOfSimpleEvent { item } }.into())
    }
}

/// Returns the numbers from which the elements of an array of this size are made.
fn numbers(size: i32, least: i32) -> Result<std::ops::Range<i32>, Fault> {
    if (least..=MAX_SIZE).contains(&size) {
        Ok(0..size)
    } else {
        Err(Fault::sender(format!("size is {size}, where {least} to {MAX_SIZE} was expected")))
    }
}

/// Converts a count. A message has fewer elements than bytes, and fewer bytes than an `i32` can count.
fn count(elements: usize) -> i32 {
    i32::try_from(elements).unwrap_or(i32::MAX)
}

fn string(i: i32) -> String {
    format!("s{i}")
}

fn mesh(i: i32) -> MeshInterfaceObject {
    MeshInterfaceObject { x: i, y: i, value: f64::from(i).sqrt() }
}

fn event(i: i32) -> SimpleEvent {
    SimpleEvent { sequence_number: i, timestamp: f64::from(i).sqrt(), message: format!("Message #{i}") }
}

/// The numbers of elements in the report's small and large messages.
const SIZES: [i32; 2] = [1, 100];

const PORT: Port<BenchmarkClient<Counting>> = Port {
    suite: "benchmark1",
    style: None,
    path: PATH,
    operations: &BENCHMARK_OPERATIONS,
    client: BenchmarkClient::with_transport,
};

/// Returns the cases of the benchmark: six operations, five of them in two sizes.
pub fn cases() -> Vec<Case> {
    let void = PORT.raw("echoVoid", "", (EchoVoid {}, EchoVoidResponse {}));
    std::iter::once(void).chain(SIZES.into_iter().flat_map(of_size)).collect()
}

/// Returns the figures that were published as numbers. The others were charts, which are lost.
pub fn published_figures() -> Vec<Published> {
    let void = PublishedFigure {
        case: "echoVoid".into(),
        requests_per_second: Some(25_000.0),
        note: Some("about, in words".into()),
        ..PublishedFigure::default()
    };
    vec![Published {
        system: "Apache Axis2/C".into(),
        source: "WSO2: Axis2/C performance, round 2, 21 July 2008".into(),
        machine: "a server with 4 processors of 3.2 GHz, its client on another such machine, 1 Gbit/s between them"
            .into(),
        method: Method::Closed,
        figures: vec![void],
    }]
}

/// Returns the five operations with the array size of an earlier comparison that included Axis2.
pub fn extras() -> Vec<Case> {
    of_size(500).into()
}

fn of_size(size: i32) -> [Case; 5] {
    let of_size = format!("-{size}");
    let ints: Vec<i32> = (0..size).collect();
    let doubles: Vec<f64> = (0..size).map(f64::from).collect();
    let strings: Vec<String> = (0..size).map(string).collect();
    let objects: Vec<MeshInterfaceObject> = (0..size).map(mesh).collect();
    let events = ArrayOfSimpleEvent { item: (0..size).map(|i| event(i).into()).collect() };
    let ints = (EchoInts { input: ints.clone() }, EchoIntsResponse { echo_ints_return: ints });
    let doubles = (EchoDoubles { input: doubles.clone() }, EchoDoublesResponse { echo_doubles_return: doubles });
    let strings = (EchoStrings { input: strings.clone() }, EchoStringsResponse { echo_strings_return: strings });
    let objects = (
        EchoMeshInterfaceObjectsRequest { input: objects.clone() },
        EchoMeshInterfaceObjectsResponse { echo_mesh_interface_object_return: objects },
    );
    let events = (
        EchoSimpleEventsRequest { input: events.clone() },
        EchoSimpleEventsResponse { echo_simple_events_return: events },
    );
    [
        PORT.raw("echoInts", &of_size, ints),
        PORT.raw("echoDoubles", &of_size, doubles),
        PORT.raw("echoStrings", &of_size, strings),
        PORT.raw("echoMeshInterfaceObjects", &of_size, objects),
        PORT.raw("echoSimpleEvents", &of_size, events),
    ]
}
