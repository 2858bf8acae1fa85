use super::*;

#[test]
fn a_delivery_in_the_journal_reads_back_as_it_was() {
    let mut delivery = Delivery::of_command("./deploy test");
    delivery.probes = vec![
        Probe::Http { http: "https://a/".into(), status: 204, contains: None, timeout: Seconds(1) },
        Probe::Tcp { tcp: "a:1".into(), timeout: Seconds(2) },
        Probe::Command { command: "./smoke".into(), timeout: Seconds(3) },
    ];
    delivery.environment.insert("TARGET".into(), "test".into());
    let text = serde_json::to_string(&GateSpec::DeploySuccess(delivery.clone())).unwrap();
    let back: GateSpec = serde_json::from_str(&text).unwrap();
    assert_eq!(back, GateSpec::DeploySuccess(delivery), "{text}");
}
