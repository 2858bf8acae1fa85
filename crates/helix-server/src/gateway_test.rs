use std::sync::Mutex;
use std::time::Instant;

use axum::Router;
use axum::body::Body as AxumBody;
use axum::routing::any;
use futures::StreamExt;

use super::*;

/// A provider that keeps what it was sent and answers piece by piece, `pause` after each.
struct Provider {
    address: String,
    seen: Arc<Mutex<Vec<(String, HeaderMap, usize)>>>,
}

async fn provider(pause: Duration) -> Provider {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let answer = move |request: axum::extract::Request| async move {
        let (parts, body) = request.into_parts();
        let mut length = 0;
        let mut body = body.into_data_stream();
        while let Some(piece) = body.next().await {
            length += piece.unwrap().len();
        }
        kept.lock().unwrap().push((parts.uri.to_string(), parts.headers, length));
        let pieces = futures::stream::iter(0..3).then(move |number| async move {
            if number > 0 {
                tokio::time::sleep(pause).await;
            }
            Ok::<_, Infallible>(format!("data: {number}\n\n"))
        });
        ([("content-type", "text/event-stream"), ("x-own", "kept")], AxumBody::from_stream(pieces))
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/base", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(any(answer))).await });
    Provider { address, seen }
}

/// Serves a passage to this address; gives the address that the agent gets.
fn gateway(provider: &str, environment: &[(&str, &str)]) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let own = format!("http://{}", listener.local_addr().unwrap());
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let keys = [("hxk-1", "real-1"), ("hxk-2", "real-2")].map(|(own, real)| (own.to_owned(), real.to_owned())).to_vec();
    let passage = Passage { listener, provider: provider.to_owned(), keys, environment };
    std::thread::spawn(move || serve_gateway(passage));
    own
}

fn agent() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

#[tokio::test]
async fn the_provider_gets_its_key_and_the_rest_as_it_was() {
    let provider = provider(Duration::ZERO).await;
    let own = gateway(&provider.address, &[]);
    let body = vec![b'x'; 5 << 20];
    let asked = agent().post(format!("{own}/base/v1/messages?beta=true")).header("x-api-key", "hxk-1");
    let answer = asked.header("x-other", "hxk").body(body.clone()).send().await.unwrap();
    assert_eq!((answer.status(), answer.headers()["x-own"].to_str().unwrap()), (StatusCode::OK, "kept"));
    assert_eq!(answer.text().await.unwrap(), "data: 0\n\ndata: 1\n\ndata: 2\n\n");
    let asked = agent().get(format!("{own}/base/v1/models")).header("authorization", "Bearer hxk-2");
    assert_eq!(asked.send().await.unwrap().status(), StatusCode::OK);
    let seen = provider.seen.lock().unwrap();
    let (address, headers, length) = &seen[0];
    assert_eq!((address.as_str(), *length), ("/base/v1/messages?beta=true", body.len()));
    assert_eq!((&headers["x-api-key"], &headers["x-other"]), (&"real-1".parse().unwrap(), &"hxk".parse().unwrap()));
    assert_eq!(headers["content-length"], body.len().to_string());
    assert!(provider.address.contains(headers["host"].to_str().unwrap()), "{headers:?}");
    assert_eq!(seen[1].1["authorization"], "Bearer real-2");
}

#[tokio::test]
async fn a_stream_passes_piece_by_piece() {
    let pause = Duration::from_millis(600);
    let provider = provider(pause).await;
    let own = gateway(&provider.address, &[]);
    let begun = Instant::now();
    let answer = agent().get(format!("{own}/base/x")).header("x-api-key", "hxk-1").send().await.unwrap();
    let mut stream = answer.bytes_stream();
    assert_eq!(stream.next().await.unwrap().unwrap(), "data: 0\n\n");
    assert!(begun.elapsed() < pause, "the first piece does not wait for the second: {:?}", begun.elapsed());
    assert_eq!(stream.next().await.unwrap().unwrap(), "data: 1\n\n");
}

#[tokio::test]
async fn who_has_not_the_runs_key_or_asks_for_something_else_is_refused() {
    let provider = provider(Duration::ZERO).await;
    let own = gateway(&provider.address, &[]);
    let refused = async |path: &str, name: &str, value: &str| {
        let answer = agent().get(format!("{own}{path}")).header(name, value).send().await.unwrap();
        let status = answer.status().as_u16();
        let told: serde_json::Value = answer.json().await.unwrap();
        assert!(told["error"]["message"].as_str().unwrap().contains("gateway"), "{told}");
        status
    };
    assert_eq!(refused("/base/x", "x-api-key", "hxk-3").await, 401);
    assert_eq!(refused("/base/x", "x-api-key", "real-1").await, 401, "the provider's own key opens nothing");
    assert_eq!(refused("/base/x", "accept", "*/*").await, 401);
    assert_eq!(refused("/other", "x-api-key", "hxk-1").await, 403);
    assert_eq!(refused("/basement", "x-api-key", "hxk-1").await, 403);
    assert_eq!(refused("/base/%2e%2e/x", "x-api-key", "hxk-1").await, 403);
    assert_eq!(refused("/base/x", "upgrade", "websocket").await, 426);
    assert!(provider.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_is_named_with_the_cause() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let told = async |own: String| {
        let answer = agent().get(own).header("x-api-key", "hxk-1").send().await.unwrap();
        assert_eq!(answer.status(), 502);
        let told: serde_json::Value = answer.json().await.unwrap();
        assert_eq!(told["error"]["type"], "api_error");
        told["error"]["message"].as_str().unwrap().to_owned()
    };
    let said = told(gateway(&format!("http://user:pass@{free}"), &[])).await;
    assert!(said.contains(&format!("http://{free}")) && said.contains("refused") && !said.contains("pass"), "{said}");
    let said = told(gateway("https://provider.example", &[("SSL_CERT_FILE", "/nowhere/roots.pem")])).await;
    assert!(said.contains("/nowhere/roots.pem"), "{said}");
    let said = told(gateway("https://provider.example", &[("https_proxy", &format!("http://{free}"))])).await;
    assert!(said.contains("refused"), "{said}");
}
