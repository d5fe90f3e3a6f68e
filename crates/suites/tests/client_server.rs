//! Tests that the generated client can call every operation of the generated server, in one process and
//! without a socket.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile::{CallError, FaultCode};
use castile_suites::benchmark1::contract::*;
use castile_suites::{benchmark1, wstest};
use common::http::block_on;
use common::{Random, values};

/// A gateway once could not call another service from a handler or from a task.
#[test]
fn calls_could_not_be_made_in_tasks() {
    fn is_send<F: Future + Send>(future: F) -> F {
        future
    }
    let literal =
        BenchmarkClient::with_transport("http://localhost/", BenchmarkServer::new(benchmark1::Service)).unwrap();
    assert!(block_on(is_send(literal.echo_void(&EchoVoid {}).into_future())).is_ok());
    let encoded = castile_suites::interop::base::InteropBaseClient::new("http://127.0.0.1:1/").unwrap();
    drop(is_send(encoded.echo_void(&castile_suites::interop::base::EchoVoidRequest {}).into_future()));
    let attachments = castile_suites::attachments::contract::AttachmentsClient::new("http://127.0.0.1:1/").unwrap();
    drop(is_send(attachments.echo().into_future()));
    drop(is_send(attachments.echo().send()));
}

#[test]
fn benchmark1() {
    let server = BenchmarkServer::new(benchmark1::Service);
    let client = BenchmarkClient::with_transport("http://localhost/benchmark1", server).unwrap();
    let mut random = Random::new(1);
    block_on(async {
        for _ in 0..20 {
            let random = &mut random;
            assert_eq!(client.echo_void(&EchoVoid {}).await.unwrap(), EchoVoidResponse {});
            let request = values::bytes(random);
            assert_eq!(client.echo_base64(&request).await.unwrap().echo_base64_return, request.input);
            let request = values::strings(random);
            assert_eq!(client.echo_strings(&request).await.unwrap().echo_strings_return, request.input);
            let request = values::ints(random);
            assert_eq!(client.echo_ints(&request).await.unwrap().echo_ints_return, request.input);
            let request = EchoDoubles { input: values::doubles(random).echo_doubles_return };
            // Compared as text, since NaN is not equal to itself.
            let answer = client.echo_doubles(&request).await.unwrap().echo_doubles_return;
            assert_eq!(format!("{answer:?}"), format!("{:?}", request.input));
            let request = values::mesh(random);
            let answer = client.echo_mesh_interface_objects(&request).await.unwrap().echo_mesh_interface_object_return;
            assert_eq!(format!("{answer:?}"), format!("{:?}", request.input));
            let request = values::events(random);
            let answer = client.echo_simple_events(&request).await.unwrap().echo_simple_events_return;
            assert_eq!(format!("{answer:?}"), format!("{:?}", request.input));

            let input = values::bytes(random).input;
            let count = input.0.len() as i32;
            assert_eq!(client.receive_base64(&ReceiveBase64 { input }).await.unwrap().receive_base64_return, count);
            let input = values::strings(random).input;
            let count = input.len() as i32;
            assert_eq!(client.receive_strings(&ReceiveStrings { input }).await.unwrap().receive_strings_return, count);
            let input = values::ints(random).input;
            let count = input.len() as i32;
            assert_eq!(client.receive_ints(&ReceiveInts { input }).await.unwrap().receive_ints_return, count);
            let input = values::doubles(random).echo_doubles_return;
            let count = input.len() as i32;
            assert_eq!(client.receive_doubles(&ReceiveDoubles { input }).await.unwrap().receive_doubles_return, count);
            let item: Vec<_> = values::mesh(random).input.into_iter().map(Into::into).collect();
            let count = item.len() as i32;
            let request = ReceiveMeshInterfaceObjectsRequest { input: ArrayOfMeshInterfaceObject { item } };
            let answer = client.receive_mesh_interface_objects(&request).await.unwrap();
            assert_eq!(answer.receive_mesh_interface_objects_return, count);
            let input = values::events(random).input;
            let count = input.item.len() as i32;
            let answer = client.receive_simple_events(&ReceiveSimpleEventsRequest { input }).await.unwrap();
            assert_eq!(answer.receive_simple_events_return, count);
        }
        for size in [1, 2, 300] {
            let length = size as usize;
            assert_eq!(client.send_base64(&SendBase64 { size }).await.unwrap().send_base64_return.0.len(), length);
            assert_eq!(client.send_strings(&SendStrings { size }).await.unwrap().send_strings_return.len(), length);
            let expected: Vec<i32> = (0..size).collect();
            assert_eq!(client.send_ints(&SendInts { size }).await.unwrap().send_ints_return, expected);
            assert_eq!(client.send_doubles(&SendDoubles { size }).await.unwrap().send_doubles_return.len(), length);
            let answer = client.send_mesh_interface_objects(&SendMeshInterfaceObjectsRequest { size }).await.unwrap();
            assert_eq!(answer.send_mesh_interface_objects_return.item.len(), length);
            let answer = client.send_simple_events(&SendSimpleEventsRequest { size }).await.unwrap();
            assert_eq!(answer.send_simple_events_return.item.len(), length);
        }
        let CallError::Fault { fault, .. } = client.send_ints(&SendInts { size: -1 }).await.unwrap_err() else {
            panic!()
        };
        assert_eq!(
            (fault.code, fault.reason.as_str()),
            (FaultCode::Sender, "size is -1, where 1 to 100000 was expected")
        );
        // A value that can't be written is not sent.
        let error = client.echo_strings(&EchoStrings { input: vec!["a\u{0}".into()] }).await.unwrap_err();
        assert!(matches!(&error, CallError::Protocol { .. }), "{error}");
    });
}

#[test]
fn wstest() {
    use castile_suites::wstest::contract::*;
    let server = TestServiceSoapServer::new(wstest::Service);
    let client = TestServiceSoapClient::with_transport("http://localhost/wstest", server).unwrap();
    let mut random = Random::new(2);
    block_on(async {
        for _ in 0..20 {
            assert_eq!(client.echo_void(&EchoVoid {}).await.unwrap(), EchoVoidResponse {});
            let request = values::echo_struct(&mut random);
            let answer = client.echo_struct(&request).await.unwrap().echo_struct_result;
            assert_eq!(format!("{answer:?}"), format!("{:?}", request.array));
            let request = values::echo_list(&mut random);
            let answer = client.echo_list(&request).await.unwrap().echo_list_result;
            assert_eq!(format!("{answer:?}"), format!("{:?}", request.list));
        }
        let request = GetOrder { order_id: 11, customer_id: 22 };
        let order = client.get_order(&request).await.unwrap().get_order_result;
        assert_eq!((order.order_id, order.customer.customer_id, order.line_items.line_item.len()), (11, 22, 50));
        // The contract doesn't permit an array without elements, and the server rejects it.
        let request = EchoStruct { array: COfTestStruct::default() };
        let CallError::Fault { fault, .. } = client.echo_struct(&request).await.unwrap_err() else { panic!() };
        assert_eq!(fault.code, FaultCode::Sender);
        assert!(
            fault.reason.as_str().starts_with("EchoStruct/array: 0 of <l>, where at least 1 were expected"),
            "{fault}"
        );
    });
}
