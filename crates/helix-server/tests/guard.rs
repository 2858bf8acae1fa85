//! Who may speak to the server at all.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod host;

use helix_server::{ServeError, ServerConfig};
use host::Host;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// [54], [T23].
#[tokio::test]
async fn everything_but_health_needs_the_token() {
    // [54]
    let host = Host::start().await;
    for path in ["/healthz", "/readyz"] {
        let answer = host.http.get(format!("{}{path}", host.url)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
    }
    for path in ["/v1/models", "/v1/nonsense"] {
        let answer = host.http.get(format!("{}{path}", host.url)).bearer_auth("wrong-tokn").send().await.unwrap();
        assert_eq!(answer.status(), 401, "{path}");
        assert_eq!(answer.headers()["www-authenticate"], "Bearer");
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["error"]["code"], "invalid_api_key", "{body}");
    }
    for path in ["/api/v1/jobs", "/helix/jobs", "/openapi.json", "/mcp", "/nonsense"] {
        let answer = host.http.get(format!("{}{path}", host.url)).send().await.unwrap();
        assert_eq!(answer.status(), 401, "{path}");
        assert_eq!(answer.headers()["content-type"], "application/problem+json");
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["code"], "HX0801", "{body}");
    }
    host.stop().await;
}

#[tokio::test]
async fn other_names_and_foreign_pages_are_refused() {
    let host = Host::start().await;
    let rebound = host.get("/api/v1/jobs").header("host", "evil.example").send().await.unwrap();
    assert_eq!(rebound.status(), 403);
    assert_eq!(rebound.json::<Value>().await.unwrap()["code"], "HX0802");
    let page = host.get("/v1/models").header("origin", "https://evil.example").send().await.unwrap();
    assert_eq!(page.status(), 403);
    assert!(page.headers().get("access-control-allow-origin").is_none());
    assert_eq!(page.json::<Value>().await.unwrap()["error"]["code"], "forbidden_host");
    let own = host.get("/v1/models").header("origin", host.url.clone()).send().await.unwrap();
    assert_eq!(own.status(), 200);
    host.stop().await;
}

#[tokio::test]
async fn no_route_and_no_method_are_told_in_the_right_form() {
    let host = Host::start().await;
    for (path, pointer) in [("/v1/nonsense", "/error/message"), ("/api/v1/nonsense", "/detail")] {
        let answer = host.get(path).send().await.unwrap();
        assert_eq!(answer.status(), 404);
        let body: Value = answer.json().await.unwrap();
        assert!(body.pointer(pointer).unwrap().as_str().unwrap().contains(path), "{body}");
    }
    for path in ["/v1/models", "/api/v1/sessions"] {
        let answer = host.post(path).send().await.unwrap();
        assert_eq!(answer.status(), 405, "{path}");
        assert!(answer.headers()["allow"].to_str().unwrap().contains("GET"));
    }
    host.stop().await;
}

#[tokio::test]
async fn a_client_that_is_slow_with_its_head_is_dropped() {
    let config = ServerConfig { header_timeout: std::time::Duration::from_millis(50), ..ServerConfig::default() };
    let host = Host::start_with(config).await;
    let mut stream = tokio::net::TcpStream::connect(host.url.trim_start_matches("http://")).await.unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await.unwrap();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(!String::from_utf8_lossy(&rest).contains("200 OK"));
    host.stop().await;
}

#[tokio::test]
async fn an_address_of_the_network_needs_a_token() {
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
    let engine = host::bare_engine().await;
    let refused = helix_server::serve(listener, engine.1.clone(), ServerConfig::default(), async {}).await;
    assert!(matches!(refused, Err(ServeError::NoToken { .. })), "{refused:?}");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = ServerConfig { token: Some(String::new()), ..ServerConfig::default() };
    let refused = helix_server::serve(listener, engine.1.clone(), config, async {}).await;
    assert!(matches!(refused, Err(ServeError::UnusableToken)), "{refused:?}");
    engine.1.close().await;
}
