//! Who may speak to the server at all.

use crate::host::Host;
use helix_server::{ServeError, ServerConfig};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn everything_but_health_needs_the_token() {
    let host = Host::start().await;
    for path in ["/healthz", "/readyz", "/healthz/"] {
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

/// A configured page gets the answers of CORS, also before it has shown its token; no other page does.
#[tokio::test]
async fn a_configured_page_may_call_from_a_browser() {
    let page = "https://chat.example";
    let config = ServerConfig { allowed_origins: vec![page.into()], ..ServerConfig::default() };
    let host = Host::start_with(config).await;
    let ask = |origin: &str| {
        let asked = host.http.request(reqwest::Method::OPTIONS, format!("{}/v1/chat/completions", host.url));
        let asked = asked.header("origin", origin).header("access-control-request-method", "POST");
        asked.header("access-control-request-headers", "authorization,content-type").send()
    };
    let first = ask(page).await.unwrap();
    assert_eq!(
        (first.status().as_u16(), &first.headers()["access-control-allow-origin"]),
        (200, &page.parse().unwrap())
    );
    assert_eq!(first.headers()["access-control-allow-headers"], "authorization,content-type");
    assert_eq!(ask("https://evil.example").await.unwrap().status(), 403);
    let models = host.get("/v1/models").header("origin", page).send().await.unwrap();
    assert_eq!(
        (models.status().as_u16(), &models.headers()["access-control-allow-origin"]),
        (200, &page.parse().unwrap())
    );
    let without = host.http.get(format!("{}/v1/models", host.url)).header("origin", page).send().await.unwrap();
    assert_eq!(without.status(), 401, "the token is needed all the same");
    assert!(without.headers().contains_key("access-control-allow-origin"), "the page can read why");
    host.stop().await;
}

/// What sits between clients and servers: old protocols, requests sent before the answer to the one before, slashes, compression.
#[tokio::test]
async fn unusual_requests_are_answered_or_refused_in_order() {
    let host = Host::start().await;
    let token = format!("Authorization: Bearer {}", crate::host::TOKEN);
    let raw = async |request: String| -> String {
        let mut stream = tokio::net::TcpStream::connect(host.url.trim_start_matches("http://")).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let old = raw(format!("GET /v1/models HTTP/1.0\r\nHost: localhost\r\n{token}\r\n\r\n")).await;
    assert!(old.starts_with("HTTP/1.0 200") && old.contains("\"helix\""), "{old}");
    let two = raw(format!(
        "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n{token}\r\n\r\n\
         GET /v1/models/gpt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{token}\r\n\r\n"
    ))
    .await;
    // The second answer follows the body of the first without a line between them.
    let statuses: Vec<&str> = two.match_indices("HTTP/1.1 ").map(|(at, _)| &two[at + 9..at + 12]).collect();
    assert_eq!(statuses, ["200", "404"], "in the order in which they were asked");
    let body = "{\"messages\":[]}";
    let expects = raw(format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: {}\r\nConnection: close\r\n{token}\r\n\r\n{body}",
        body.len()
    ))
    .await;
    assert!(expects.starts_with("HTTP/1.1 100 Continue") && expects.contains("HTTP/1.1 400"), "{expects}");
    for path in ["/v1/models/", "/v1/models/helix/", "/api/v1/jobs/"] {
        assert_eq!(host.get(path).send().await.unwrap().status(), 200, "{path}");
    }
    let head = host.http.head(format!("{}/v1/models", host.url)).bearer_auth(crate::host::TOKEN).send().await.unwrap();
    assert_eq!(head.status(), 200);
    for path in ["/v1/chat/completions", "/v1/responses", "/api/v1/jobs"] {
        let packed = host.post(path).header("content-encoding", "gzip").body(vec![0x1f, 0x8b, 8]).send().await.unwrap();
        assert_eq!(packed.status(), 415, "{path}");
        assert!(packed.text().await.unwrap().contains("encoded as gzip"), "{path}");
    }
    let elsewhere: Value = host.post("/chat/completions").send().await.unwrap().json().await.unwrap();
    assert_eq!(elsewhere["hint"], "the base URL of the OpenAI-compatible API ends with /v1");
    let other: Value = host.post("/v1/completions").send().await.unwrap().json().await.unwrap();
    assert!(other["error"]["message"].as_str().unwrap().contains("/v1/chat/completions"), "{other}");
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
    let engine = crate::host::bare_engine().await;
    let refused = helix_server::serve(listener, engine.1.clone(), ServerConfig::default(), async {}).await;
    assert!(matches!(refused, Err(ServeError::NoToken { .. })), "{refused:?}");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = ServerConfig { token: Some(String::new()), ..ServerConfig::default() };
    let refused = helix_server::serve(listener, engine.1.clone(), config, async {}).await;
    assert!(matches!(refused, Err(ServeError::UnusableToken)), "{refused:?}");
    engine.1.close().await;
}
