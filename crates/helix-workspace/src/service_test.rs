#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;

fn service(port: &str) -> Service {
    Service { command: "true".into(), ready: None, port: Some(port.into()), timeout_seconds: 1 }
}

#[test]
fn each_service_gets_a_port_of_its_own_and_variables_name_it() {
    let services = [("a", service("A_PORT")), ("b", service("B_PORT"))];
    let services = services.map(|(name, service)| (name.to_owned(), service)).into();
    let env = [("URL".to_owned(), "http://localhost:${A_PORT}/${OTHER}".to_owned())].into();
    let found = variables(&Beside { services, env }).unwrap();
    assert_ne!(found["A_PORT"], found["B_PORT"]);
    assert_eq!(found["URL"], format!("http://localhost:{}/${{OTHER}}", found["A_PORT"]));
}

#[test]
fn ports_are_filled_into_commands_before_these_are_split() {
    let beside = Beside { services: [("a".to_owned(), service("PORT"))].into(), env: BTreeMap::new() };
    let command = words("serve --port=${PORT} 'a b'", &beside, &[("PORT".to_owned(), "81".to_owned())].into()).unwrap();
    let arguments: Vec<_> = command.get_args().collect();
    assert_eq!(arguments, ["--port=81", "a b"]);
}

#[test]
fn a_service_without_probe_is_ready_when_something_listens_on_its_port() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let variables = [("PORT".to_owned(), port)].into();
    let beside = Beside { services: [("a".to_owned(), service("PORT"))].into(), env: BTreeMap::new() };
    let is_ready = |service: &Service, variables: &Variables| is_ready(service, &beside, variables);
    assert!(is_ready(&service("PORT"), &variables).unwrap());
    drop(listener);
    assert!(!is_ready(&service("PORT"), &variables).unwrap());
    let by_command = Service { ready: Some("false".into()), ..service("PORT") };
    assert!(!is_ready(&by_command, &variables).unwrap());
}
