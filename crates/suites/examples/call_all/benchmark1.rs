//! Calls the 19 operations of benchmark1.wsdl. Its documentation has the rules for the answers.

use std::error::Error;

use castile::Nillable;
use castile_suites::benchmark1::PATH;
use castile_suites::benchmark1::contract::*;

use crate::TEXTS;
use crate::checks::Checks;

/// The largest array of a `send` operation.
const MAX_SIZE: i32 = 100_000;

const INTS: [i32; 5] = [0, -1, 1, i32::MAX, i32::MIN];
const DOUBLES: [f64; 12] = [
    -0.0,
    0.1,
    -1.5,
    1e22,
    1e-7,
    5e-324,
    f64::MAX,
    f64::MIN_POSITIVE,
    123_456_789.123_456_79,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

pub(crate) async fn call_all(checks: &mut Checks, base: &str) -> Result<(), Box<dyn Error>> {
    let client = BenchmarkClient::new(&format!("{base}{PATH}"))?;
    checks.equal("echoVoid", client.echo_void(&EchoVoid {}).await, EchoVoidResponse {});
    for size in [1, 100] {
        echo(checks, &client, size).await;
        receive(checks, &client, size).await;
        send(checks, &client, size).await;
    }
    edges(checks, &client).await;
    sizes(checks, &client).await;
    checks.all_called(&BENCHMARK_OPERATIONS, 19);
    Ok(())
}

async fn echo(checks: &mut Checks, client: &BenchmarkClient, size: i32) {
    echo_base64(checks, client, bytes(size)).await;
    echo_strings(checks, client, strings(size)).await;
    echo_ints(checks, client, (0..size).collect()).await;
    echo_doubles(checks, client, doubles(size)).await;
    echo_objects(checks, client, objects(size)).await;
    echo_events(checks, client, nillable(events(size))).await;
}

async fn receive(checks: &mut Checks, client: &BenchmarkClient, size: i32) {
    receive_base64(checks, client, bytes(size)).await;
    receive_strings(checks, client, strings(size)).await;
    let answer = client.receive_ints(&ReceiveInts { input: (0..size).collect() }).await;
    checks.equal(format!("receiveInts of {size}"), answer, ReceiveIntsResponse { receive_ints_return: size });
    let answer = client.receive_doubles(&ReceiveDoubles { input: doubles(size) }).await;
    checks.equal(format!("receiveDoubles of {size}"), answer, ReceiveDoublesResponse { receive_doubles_return: size });
    receive_objects(checks, client, nillable(objects(size))).await;
    receive_events(checks, client, nillable(events(size))).await;
}

async fn send(checks: &mut Checks, client: &BenchmarkClient, size: i32) {
    let expected = SendStringsResponse { send_strings_return: strings(size) };
    checks.equal(format!("sendStrings of {size}"), client.send_strings(&SendStrings { size }).await, expected);
    let expected = SendDoublesResponse { send_doubles_return: doubles(size) };
    checks.equal(format!("sendDoubles of {size}"), client.send_doubles(&SendDoubles { size }).await, expected);
    send_ints(checks, client, size).await;
    send_structures(checks, client, size).await;
}

/// Values and forms at the limits of the contract.
async fn edges(checks: &mut Checks, client: &BenchmarkClient) {
    for text in TEXTS {
        echo_strings(checks, client, vec![text.to_owned()]).await;
    }
    echo_strings(checks, client, vec!["x".repeat(10_000)]).await;
    echo_strings(checks, client, TEXTS.map(str::to_owned).to_vec()).await;
    receive_strings(checks, client, vec![String::new(); 3]).await;
    echo_ints(checks, client, INTS.to_vec()).await;
    echo_doubles(checks, client, DOUBLES.to_vec()).await;
    for size in [0, 2, 3, 256, 1_000_000] {
        echo_base64(checks, client, bytes(size)).await;
    }
    receive_base64(checks, client, Vec::new()).await;

    let object = |x, y, value| MeshInterfaceObject { x, y, value };
    echo_objects(checks, client, vec![object(-1, i32::MIN, -0.5), object(0, i32::MAX, 1e300)]).await;
    let event = |text: &str| SimpleEvent { sequence_number: -5, timestamp: 1e-300, message: text.to_owned() };
    echo_events(checks, client, nillable(TEXTS.map(event).to_vec())).await;

    let with_nil = vec![Nillable::Value(event("one")), Nillable::Nil, Nillable::Value(event("two"))];
    echo_events(checks, client, with_nil.clone()).await;
    receive_events(checks, client, with_nil).await;
    receive_objects(checks, client, vec![Nillable::Nil, Nillable::Value(object(1, 2, 3.0))]).await;
    echo_events(checks, client, Vec::new()).await;
    receive_events(checks, client, Vec::new()).await;
    receive_objects(checks, client, Vec::new()).await;
}

/// The limits of the send operations.
async fn sizes(checks: &mut Checks, client: &BenchmarkClient) {
    send_ints(checks, client, MAX_SIZE).await;
    send_structures(checks, client, 0).await;
    for size in [-1, i32::MIN, MAX_SIZE + 1, i32::MAX] {
        checks.refused(format!("sendBase64 of {size}"), client.send_base64(&SendBase64 { size }).await);
        let answer = client.send_mesh_interface_objects(&SendMeshInterfaceObjectsRequest { size }).await;
        checks.refused(format!("sendMeshInterfaceObjects of {size}"), answer);
        let answer = client.send_simple_events(&SendSimpleEventsRequest { size }).await;
        checks.refused(format!("sendSimpleEvents of {size}"), answer);
    }
    for size in [0, i32::MIN, MAX_SIZE + 1, i32::MAX] {
        checks.refused(format!("sendStrings of {size}"), client.send_strings(&SendStrings { size }).await);
        checks.refused(format!("sendInts of {size}"), client.send_ints(&SendInts { size }).await);
        checks.refused(format!("sendDoubles of {size}"), client.send_doubles(&SendDoubles { size }).await);
    }
}

// ---- operations that are called with several kinds of values ----

async fn echo_base64(checks: &mut Checks, client: &BenchmarkClient, bytes: Vec<u8>) {
    let name = format!("echoBase64 of {} bytes", bytes.len());
    let expected = EchoBase64Response { echo_base64_return: bytes.clone().into() };
    checks.equal(name, client.echo_base64(&EchoBase64 { input: bytes.into() }).await, expected);
}

async fn echo_strings(checks: &mut Checks, client: &BenchmarkClient, input: Vec<String>) {
    let name = format!("echoStrings of {}, the first {:.20?}", input.len(), input[0]);
    let expected = EchoStringsResponse { echo_strings_return: input.clone() };
    checks.equal(name, client.echo_strings(&EchoStrings { input }).await, expected);
}

async fn echo_ints(checks: &mut Checks, client: &BenchmarkClient, input: Vec<i32>) {
    let name = format!("echoInts of {}", input.len());
    let expected = EchoIntsResponse { echo_ints_return: input.clone() };
    checks.equal(name, client.echo_ints(&EchoInts { input }).await, expected);
}

async fn echo_doubles(checks: &mut Checks, client: &BenchmarkClient, input: Vec<f64>) {
    let name = format!("echoDoubles of {}", input.len());
    let expected = EchoDoublesResponse { echo_doubles_return: input.clone() };
    checks.equal(name, client.echo_doubles(&EchoDoubles { input }).await, expected);
}

async fn echo_objects(checks: &mut Checks, client: &BenchmarkClient, input: Vec<MeshInterfaceObject>) {
    let name = format!("echoMeshInterfaceObjects of {}", input.len());
    let expected = EchoMeshInterfaceObjectsResponse { echo_mesh_interface_object_return: input.clone() };
    let answer = client.echo_mesh_interface_objects(&EchoMeshInterfaceObjectsRequest { input }).await;
    checks.equal(name, answer, expected);
}

async fn echo_events(checks: &mut Checks, client: &BenchmarkClient, item: Vec<Nillable<SimpleEvent>>) {
    let name = format!("echoSimpleEvents of {}", item.len());
    let input = ArrayOfSimpleEvent { item };
    let expected = EchoSimpleEventsResponse { echo_simple_events_return: input.clone() };
    checks.equal(name, client.echo_simple_events(&EchoSimpleEventsRequest { input }).await, expected);
}

async fn receive_base64(checks: &mut Checks, client: &BenchmarkClient, bytes: Vec<u8>) {
    let name = format!("receiveBase64 of {} bytes", bytes.len());
    let expected = ReceiveBase64Response { receive_base64_return: count(&bytes) };
    checks.equal(name, client.receive_base64(&ReceiveBase64 { input: bytes.into() }).await, expected);
}

async fn receive_strings(checks: &mut Checks, client: &BenchmarkClient, input: Vec<String>) {
    let name = format!("receiveStrings of {}", input.len());
    let expected = ReceiveStringsResponse { receive_strings_return: count(&input) };
    checks.equal(name, client.receive_strings(&ReceiveStrings { input }).await, expected);
}

async fn receive_objects(checks: &mut Checks, client: &BenchmarkClient, item: Vec<Nillable<MeshInterfaceObject>>) {
    let name = format!("receiveMeshInterfaceObjects of {}", item.len());
    let expected = ReceiveMeshInterfaceObjectsResponse { receive_mesh_interface_objects_return: count(&item) };
    let request = ReceiveMeshInterfaceObjectsRequest { input: ArrayOfMeshInterfaceObject { item } };
    checks.equal(name, client.receive_mesh_interface_objects(&request).await, expected);
}

async fn receive_events(checks: &mut Checks, client: &BenchmarkClient, item: Vec<Nillable<SimpleEvent>>) {
    let name = format!("receiveSimpleEvents of {}", item.len());
    let expected = ReceiveSimpleEventsResponse { receive_simple_events_return: count(&item) };
    let request = ReceiveSimpleEventsRequest { input: ArrayOfSimpleEvent { item } };
    checks.equal(name, client.receive_simple_events(&request).await, expected);
}

async fn send_ints(checks: &mut Checks, client: &BenchmarkClient, size: i32) {
    let expected = SendIntsResponse { send_ints_return: (0..size).collect() };
    checks.equal(format!("sendInts of {size}"), client.send_ints(&SendInts { size }).await, expected);
}

/// The send operations that accept a size of 0.
async fn send_structures(checks: &mut Checks, client: &BenchmarkClient, size: i32) {
    let expected = SendBase64Response { send_base64_return: bytes(size).into() };
    checks.equal(format!("sendBase64 of {size}"), client.send_base64(&SendBase64 { size }).await, expected);
    let array = ArrayOfMeshInterfaceObject { item: nillable(objects(size)) };
    let expected = SendMeshInterfaceObjectsResponse { send_mesh_interface_objects_return: array };
    let answer = client.send_mesh_interface_objects(&SendMeshInterfaceObjectsRequest { size }).await;
    checks.equal(format!("sendMeshInterfaceObjects of {size}"), answer, expected);
    let array = ArrayOfSimpleEvent { item: nillable(events(size)) };
    let expected = SendSimpleEventsResponse { send_simple_events_return: array };
    let answer = client.send_simple_events(&SendSimpleEventsRequest { size }).await;
    checks.equal(format!("sendSimpleEvents of {size}"), answer, expected);
}

// ---- values by the rules of the contract ----

fn bytes(size: i32) -> Vec<u8> {
    (0..size).map(|i| i as u8).collect()
}

fn strings(size: i32) -> Vec<String> {
    (0..size).map(|i| format!("s{i}")).collect()
}

fn doubles(size: i32) -> Vec<f64> {
    (0..size).map(f64::from).collect()
}

fn objects(size: i32) -> Vec<MeshInterfaceObject> {
    (0..size).map(|i| MeshInterfaceObject { x: i, y: i, value: f64::from(i).sqrt() }).collect()
}

fn events(size: i32) -> Vec<SimpleEvent> {
    let event =
        |i| SimpleEvent { sequence_number: i, timestamp: f64::from(i).sqrt(), message: format!("Message #{i}") };
    (0..size).map(event).collect()
}

fn nillable<T>(values: Vec<T>) -> Vec<Nillable<T>> {
    values.into_iter().map(Nillable::Value).collect()
}

fn count<T>(values: &[T]) -> i32 {
    values.len() as i32
}
