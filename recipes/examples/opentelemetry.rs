//! One trace over two processes with OpenTelemetry: the client sends `traceparent`, and the server continues
//! the trace.

use castile::http::server::{Server, Spans};
use castile::soap::{Next, RequestMessage, from_fn};
use castile_recipes::orders::{OrdersClient, OrdersServer};
use castile_recipes::{Shop, order};
use http::HeaderMap;
use opentelemetry::global;
use opentelemetry::trace::{FutureExt, TracerProvider};
use opentelemetry_http::{HeaderExtractor, HeaderInjector};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::prelude::*;

/// What the current span is called elsewhere, as headers of HTTP.
fn trace_headers() -> HeaderMap {
    let (context, mut headers) = (tracing::Span::current().context(), HeaderMap::new());
    global::get_text_map_propagator(|propagator| {
        propagator.inject_context(&context, &mut HeaderInjector(&mut headers));
    });
    headers
}

#[tracing::instrument(name = "buy tea")]
async fn buy(client: &OrdersClient) -> Result<i32, castile::CallError<castile_recipes::orders::PlaceFault>> {
    let order = order(2);
    let mut call = client.place(&order);
    for (name, value) in &trace_headers() {
        call = call.http_header(name.clone(), value.clone());
    }
    Ok(call.await?.number)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // An exporter of OTLP stands here in production.
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    global::set_text_map_propagator(TraceContextPropagator::new());
    let spans = tracing_opentelemetry::layer().with_tracer(provider.tracer("shop"));
    tracing_subscriber::registry().with(spans).init();

    // Outside of `Spans`: its span becomes a child of the one that the client names.
    let propagated = from_fn(|request: RequestMessage, next: Next| {
        let headers = HeaderExtractor(request.http_headers());
        let context = global::get_text_map_propagator(|propagator| propagator.extract(&headers));
        next.run(request).with_context(context)
    });
    let service = OrdersServer::new(Shop).layer(Spans::new()).layer(propagated);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let client = OrdersClient::new(&format!("http://{}", listener.local_addr()?))?;
    tokio::spawn(Server::new().serve(listener, service, std::future::pending()));
    println!("order {}", buy(&client).await?);

    provider.force_flush()?;
    let mut spans = exporter.get_finished_spans()?;
    spans.sort_by_key(|span| span.start_time);
    for span in &spans {
        let is_in_trace = span.span_context.trace_id() == spans[0].span_context.trace_id();
        println!("{:?} {}, in the trace: {is_in_trace}", span.span_kind, span.name);
        for attribute in span.attributes.iter().filter(|attribute| attribute.key.as_str().starts_with("rpc.")) {
            println!("  {} = {}", attribute.key, attribute.value);
        }
    }
    Ok(())
}
