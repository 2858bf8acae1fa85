//! `/api/v1`, `/helix`, `/openapi.json`: as far as no agent is needed.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod host;

use host::Host;
use serde_json::{Value, json};

#[tokio::test]
async fn an_empty_host_lists_nothing_under_both_names() {
    let host = Host::start().await;
    for path in ["/api/v1/jobs", "/helix/jobs", "/api/v1/jobs?status=running,failed"] {
        let list: Value = host.get(path).send().await.unwrap().json().await.unwrap();
        assert_eq!(list, json!({ "jobs": [] }), "{path}");
    }
    host.stop().await;
}

#[tokio::test]
async fn what_is_not_there_is_a_problem_with_a_hint() {
    let host = Host::start().await;
    for path in [
        "/api/v1/jobs/j0",
        "/api/v1/jobs/j0/events",
        "/api/v1/jobs/j0/activity",
        "/api/v1/jobs/j0/log/r0",
        "/helix/jobs/j0",
        "/helix/stream/j0",
        "/api/v1/sessions/s0",
        "/api/v1/sessions/a%2Fb",
    ] {
        let answer = host.get(path).send().await.unwrap();
        assert_eq!(answer.status(), 404, "{path}");
        assert_eq!(answer.headers()["content-type"], "application/problem+json");
        let problem: Value = answer.json().await.unwrap();
        assert_eq!(problem["code"], "HX0807", "{path}: {problem}");
        assert_eq!(problem["status"], 404);
    }
    for (path, words) in [
        ("/api/v1/jobs?status=runing", "runing"),
        ("/api/v1/jobs?limit=3", "limit"),
        ("/api/v1/jobs/j0/events?after=x", "after"),
        ("/api/v1/jobs/j0/log/r0?follow=maybe", "maybe"),
    ] {
        let answer = host.get(path).send().await.unwrap();
        assert_eq!(answer.status(), 400, "{path}");
        let problem: Value = answer.json().await.unwrap();
        assert!(problem["detail"].as_str().unwrap().contains(words), "{path}: {problem}");
    }
    host.stop().await;
}

#[tokio::test]
async fn a_wrong_request_starts_nothing() {
    let host = Host::start().await;
    for path in ["/api/v1/jobs", "/helix/execute"] {
        let answer = host.post(path).body(r#"{"plan":"/p","phase":"x"}"#).send().await.unwrap();
        assert_eq!(answer.status(), 400, "{path}");
        let problem: Value = answer.json().await.unwrap();
        assert_eq!(problem["code"], "HX0804");
        assert!(problem["detail"].as_str().unwrap().contains("\"phase\""), "{problem}");
    }
    host.stop().await;
}

#[tokio::test]
async fn the_document_is_served_and_every_route_in_it_answers() {
    let host = Host::start().await;
    let document: Value = host.get("/openapi.json").send().await.unwrap().json().await.unwrap();
    assert_eq!(document, helix_server::openapi_document());
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let url = format!("{}{}", host.url, path.replace(['{', '}'], ""));
            let method = reqwest::Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let answer = host.http.request(method, url).bearer_auth(host::TOKEN).send().await.unwrap();
            let status = answer.status();
            let body = answer.text().await.unwrap();
            assert!(status != 405 && !body.contains("HX0803") && !body.contains("unknown_url"), "{path}: {body}");
        }
    }
    host.stop().await;
}
