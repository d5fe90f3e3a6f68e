//! Tests the pages of all services: the messages that they show are accepted by the services.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use castile::http::server::Routes;
use http::Request;
use http_body_util::{BodyExt, Full};
use tower_service::Service;

async fn ask(routes: &Routes, request: Request<Full<bytes::Bytes>>) -> (u16, String) {
    let response = routes.clone().call(request).await.unwrap();
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

/// Returns the text between two strings of a page.
fn between(page: &str, begin: &str, end: &str) -> Option<String> {
    let (_, rest) = page.split_once(begin)?;
    let (text, _) = rest.split_once(end)?;
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    Some(text.replace("&amp;", "&"))
}

#[tokio::test]
async fn each_example_is_accepted_by_its_service() {
    let routes = castile_suites::routes();
    let mut wrong = Vec::new();
    let mut sent = 0;
    for (path, endpoint) in routes.endpoints() {
        let get = |url: String| Request::get(url).body(Full::default()).unwrap();
        let (status, all) = ask(&routes, get(path.to_owned())).await;
        assert_eq!(status, 200, "{path}");
        for operation in endpoint.description().operations {
            let name = operation.name;
            assert!(all.contains(&format!(">{name}</a>")), "{name} in the list of {path}");
            let (status, page) = ask(&routes, get(format!("{path}?operation={name}"))).await;
            assert_eq!(status, 200, "{path}?operation={name}");
            let Some(example) = page.split("<pre class=\"request\"").nth(1) else {
                wrong.push(format!("{path} {name} has no example"));
                continue;
            };
            let content_type = between(example, "data-type=\"", "\"").unwrap();
            let mut request = Request::post(path).header("content-type", content_type);
            let head = example.split('>').next().unwrap();
            if let Some(action) = between(head, "data-action=\"", "\"") {
                request = request.header("soapaction", action);
            }
            let message = between(example, ">", "</pre>").unwrap();
            let (status, answer) = ask(&routes, request.body(Full::from(message.clone())).unwrap()).await;
            // A service may reject the content of a request, but not its form.
            if answer.contains("(line ") || !matches!(status, 200 | 202 | 500) {
                wrong.push(format!("{path} {name}: {message}\nis answered {status} {answer}"));
            }
            sent += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(sent > 90, "{sent} examples");
}
