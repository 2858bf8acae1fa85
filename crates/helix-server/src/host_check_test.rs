use super::*;

fn rules(listening_on: &str) -> HostRules {
    let config = ServerConfig {
        allowed_hosts: vec!["host.docker.internal".into()],
        allowed_origins: vec!["https://chat.example".into()],
        public_url: Some("https://Helix.example:8443".into()),
        ..ServerConfig::default()
    };
    HostRules::new(&config, listening_on.parse().unwrap())
}

fn check(rules: &HostRules, host: &str, origin: Option<&str>) -> bool {
    let mut headers = HeaderMap::new();
    headers.insert(header::HOST, host.parse().unwrap());
    if let Some(origin) = origin {
        headers.insert(header::ORIGIN, origin.parse().unwrap());
    }
    rules.check(&headers, &Uri::from_static("/healthz")).is_ok()
}

#[test]
fn names_that_could_be_rebound_are_refused() {
    let rules = rules("127.0.0.1:80");
    for good in [
        "helix.example",
        "localhost",
        "LOCALHOST:7331",
        "127.0.0.1:7331",
        "[::1]:7331",
        "127.0.0.2",
        "host.docker.internal:1",
    ] {
        assert!(check(&rules, good, None), "{good}");
    }
    for bad in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "10.0.0.1", "", "[::2]"] {
        assert!(!check(&rules, bad, None), "{bad}");
    }
}

#[test]
fn an_address_is_enough_where_the_server_is_open_to_the_network() {
    assert!(check(&rules("0.0.0.0:80"), "10.0.0.1:80", None));
    assert!(!check(&rules("0.0.0.0:80"), "evil.example", None));
}

#[test]
fn only_own_and_configured_pages_may_call() {
    let rules = rules("127.0.0.1:80");
    assert!(check(&rules, "localhost:7331", Some("http://localhost:7331")));
    assert!(check(&rules, "localhost:7331", Some("https://chat.example")));
    for bad in ["null", "http://localhost:3000", "http://evil.example", "https://chat.example.evil"] {
        assert!(!check(&rules, "localhost:7331", Some(bad)), "{bad}");
    }
}
