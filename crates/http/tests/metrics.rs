//! Metrics in the format of Prometheus, and `tracing` events.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::fmt;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use castile_budget::Budget;
use castile_http::server::{Events, Metrics, ObserverLayer, Routes, Server};
use castile_soap::Layer;
use http::Request;
use http_body_util::{BodyExt, Full};
use support::{ask, echo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower_service::Service;
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, SubscriberExt};

/// Makes each of these requests: method, path, `SOAPAction`.
async fn ask_all(layer: &ObserverLayer, requests: impl IntoIterator<Item = (&'static str, String, &'static str)>) {
    let mut service = layer.layer(Routes::new().route("/echo", echo()));
    for (method, path, action) in requests {
        let request = Request::builder().method(method).uri(path).header("soapaction", action);
        let request = request.header("content-type", "text/xml").body(Full::<Bytes>::from("<a/>")).unwrap();
        service.call(request).await.unwrap().into_body().collect().await.unwrap();
    }
}

fn echoes() -> Vec<(&'static str, String, &'static str)> {
    let post = |action| ("POST", "/echo".to_owned(), action);
    vec![post(""), post(""), post("fault"), post("sender's fault"), ("PUT", "/echo".to_owned(), "")]
}

#[tokio::test]
async fn requests_are_counted_by_what_came_of_them() {
    let metrics = Metrics::with_steps();
    ask_all(&ObserverLayer::new(metrics.clone()), echoes()).await;
    let response = ask(&metrics, Request::get("/metrics").body(Full::<Bytes>::default()).unwrap()).await;
    assert_eq!(response.headers()["content-type"], "application/openmetrics-text; version=1.0.0; charset=utf-8");
    let text = response.into_body();
    assert_eq!(text, metrics.encode());
    for expected in [
        "castile_requests_total{service=\"Echo\",operation=\"\",outcome=\"ok\",fault=\"\",status=\"200\"} 2\n",
        "castile_requests_total{service=\"Echo\",operation=\"\",outcome=\"fault\",fault=\"Receiver\",status=\"500\"} 1\n",
        "castile_requests_total{service=\"Echo\",operation=\"\",outcome=\"fault\",fault=\"Sender\",status=\"500\"} 1\n",
        "castile_requests_total{service=\"Echo\",operation=\"\",outcome=\"refused\",fault=\"\",status=\"405\"} 1\n",
        "castile_request_duration_seconds_count{service=\"Echo\",operation=\"\"} 5\n",
        "castile_received_bytes_total{service=\"Echo\",operation=\"\"} 16\n",
        "castile_request_step_seconds_total{service=\"Echo\",operation=\"\",step=\"read\"} ",
        "# UNIT castile_request_step_seconds seconds\n",
    ] {
        assert!(text.contains(expected), "{expected}{text}");
    }
    assert!(text.ends_with("# EOF\n"));
    let posted = ask(&metrics, Request::post("/metrics").body(Full::<Bytes>::default()).unwrap()).await;
    assert_eq!(posted.status(), 405);
}

#[test]
fn what_threads_have_counted_is_added_up() {
    let metrics = Metrics::with_steps();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(ask_all(&ObserverLayer::new(metrics.clone()), echoes()));
            });
        }
    });
    let text = metrics.encode();
    for expected in [
        "castile_requests_total{service=\"Echo\",operation=\"\",outcome=\"ok\",fault=\"\",status=\"200\"} 16\n",
        "castile_request_duration_seconds_count{service=\"Echo\",operation=\"\"} 40\n",
        "castile_request_duration_seconds_bucket{le=\"+Inf\",service=\"Echo\",operation=\"\"} 40\n",
        "castile_received_bytes_total{service=\"Echo\",operation=\"\"} 128\n",
    ] {
        assert!(text.contains(expected), "{expected}{text}");
    }
}

#[tokio::test]
async fn text_of_clients_makes_no_series() {
    let metrics = Metrics::new();
    let layer = ObserverLayer::new(metrics.clone());
    ask_all(&layer, [("POST", "/0".to_owned(), ""), ("POST", "/echo".to_owned(), "")]).await;
    let before = metrics.encode().lines().count();
    ask_all(&layer, (1..1_000).map(|number| ("POST", format!("/{number}"), ""))).await;
    ask_all(&layer, (1..100).map(|number| ("POST", format!("/echo?{number}"), "urn:x"))).await;
    assert!(!metrics.encode().contains("step=\""));
    assert_eq!(metrics.encode().lines().count(), before, "{}", metrics.encode());
}

/// Regression: metrics were rejected when they mattered most.
#[tokio::test]
async fn metrics_are_served_while_all_slots_are_used() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let routes = Routes::new().route_service("/metrics", Metrics::new());
    tokio::spawn(Server::new().max_requests_in_flight(0).serve(listener, routes, std::future::pending()));
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("# EOF\n"), "{answer}");
}

/// Regression: of several budgets, only the larger one was reported.
#[tokio::test]
async fn budgets_are_summed_and_shared_budgets_count_once() {
    let metrics = Metrics::new();
    let shared = Budget::new(1_000);
    for budget in [shared.clone(), shared.clone(), Budget::new(200)] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server::new().budget(budget).observer(metrics.clone());
        tokio::spawn(server.serve(listener, Routes::new(), std::future::pending()));
    }
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    let _used = shared.reserve(7).unwrap();
    let text = metrics.encode();
    for expected in ["\ncastile_memory_limit_bytes 1200\n", "\ncastile_memory_used_bytes 7\n"] {
        assert!(text.contains(expected), "{expected}{text}");
    }
}

/// Collects events as text.
#[derive(Clone, Default)]
struct Collected(Arc<Mutex<Vec<String>>>);

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if !field.name().ends_with("_s") {
            *self.0 += &format!(" {}={value:?}", field.name());
        }
    }
}

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Collected {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut line = event.metadata().level().to_string();
        event.record(&mut Fields(&mut line));
        self.0.lock().unwrap().push(line);
    }
}

#[tokio::test]
async fn each_exchange_is_an_event() {
    let collected = Collected::default();
    let subscriber = tracing_subscriber::registry().with(collected.clone());
    let _guard = tracing::subscriber::set_default(subscriber);
    ask_all(&ObserverLayer::new(Events::new()), echoes()).await;
    let events = std::mem::take(&mut *collected.0.lock().unwrap());
    let rest = "method=\"POST\" path=\"/echo\" request_bytes=4 response_bytes=4";
    assert_eq!(
        events[1..4],
        [
            format!("INFO message=exchange service=\"Echo\" outcome=\"ok\" status=200 {rest}"),
            format!("WARN message=exchange service=\"Echo\" outcome=\"fault\" fault=\"Receiver\" status=500 {rest}"),
            format!("INFO message=exchange service=\"Echo\" outcome=\"fault\" fault=\"Sender\" status=500 {rest}"),
        ]
    );
    assert!(
        events[4].starts_with("INFO message=exchange service=\"Echo\" outcome=\"refused\" status=405 "),
        "{events:?}"
    );
}
