use std::collections::BTreeMap;

use super::*;
use crate::invocation::{Grace, RunKind};
use crate::walls::Walls;

fn request(env: &[(&str, &str)], args: &[&str], address: ProviderAddress, keys: &[&str]) -> RunRequest {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let args = args.iter().map(|word| (*word).to_owned()).collect();
    let keys = keys.iter().map(|key| (*key).to_owned()).collect();
    let gateway = Gateway { keys, address, ports: vec![443, 4000] };
    RunRequest {
        run: helix_core::ids::RunId::new("r").unwrap(),
        invocation: Invocation { program: "agent".into(), args, env, cwd: "/".into(), stdin: vec![] },
        deadline: None,
        grace: Grace::default(),
        kind: RunKind::Work,
        labels: BTreeMap::new(),
        walls: Some(Walls { network: Network::Ports(vec![8787]), gateway: Some(gateway), ..Walls::default() }),
    }
}

fn variable() -> ProviderAddress {
    ProviderAddress::Variable { name: "BASE".into(), default: "https://provider.example".into() }
}

fn ports(request: &RunRequest) -> &[u16] {
    match &request.walls.as_ref().unwrap().network {
        Network::Ports(ports) => ports,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_gets_a_key_and_an_address_of_its_own() {
    let mut asked = request(&[("KEY", "real-1"), ("TOKEN", "real-2"), ("A", "b")], &[], variable(), &["KEY", "TOKEN"]);
    let Open(passage, _) = open(&mut asked, Some(|_| Ok(()))).unwrap().unwrap();
    let port = passage.listener.local_addr().unwrap().port();
    assert_eq!(passage.provider, "https://provider.example");
    let env: BTreeMap<_, _> = asked.invocation.env.iter().cloned().collect();
    assert_eq!((env["BASE"].clone(), env["A"].as_str()), (format!("http://127.0.0.1:{port}"), "b"));
    assert_eq!(passage.keys, [(env["KEY"].clone(), "real-1".into()), (env["TOKEN"].clone(), "real-2".into())]);
    assert!(env["KEY"] != env["TOKEN"] && env["KEY"].len() == 68, "{env:?}");
    assert_eq!(ports(&asked), [8787, port], "the provider's own ports are closed");
    assert!(!env.contains_key("NO_PROXY"), "{env:?}");
    let mut held = WallsHeld::default();
    note(&mut held, asked.walls.unwrap().gateway.as_ref().unwrap());
    assert_eq!(held.held, [Wall::Key]);
}

#[test]
fn an_address_of_ones_own_is_kept_with_its_path_and_proxies_are_passed_by() {
    let env =
        [("KEY", "real"), ("BASE", "http://10.0.0.1:4000/up/v1"), ("HTTPS_PROXY", "http://p:1"), ("NO_PROXY", "a")];
    let mut asked = request(&env, &[], variable(), &["KEY"]);
    let Open(passage, _) = open(&mut asked, Some(|_| Ok(()))).unwrap().unwrap();
    assert_eq!(passage.provider, "http://10.0.0.1:4000/up/v1");
    let env: BTreeMap<_, _> = asked.invocation.env.into_iter().collect();
    assert!(env["BASE"].starts_with("http://127.0.0.1:") && env["BASE"].ends_with("/up/v1"), "{env:?}");
    assert_eq!((env["NO_PROXY"].as_str(), env["no_proxy"].as_str()), ("a,127.0.0.1", "127.0.0.1"));
}

#[test]
fn the_address_may_stand_in_an_argument() {
    let word = "model_providers.x={base_url=\"https://x.example/v1\",env_key=\"KEY\"}";
    let mut asked = request(&[("KEY", "real")], &["-c", word], ProviderAddress::Argument(1), &["KEY"]);
    let Open(passage, _) = open(&mut asked, Some(|_| Ok(()))).unwrap().unwrap();
    let port = passage.listener.local_addr().unwrap().port();
    assert_eq!(passage.provider, "https://x.example/v1");
    let own = format!("model_providers.x={{base_url=\"http://127.0.0.1:{port}/v1\",env_key=\"KEY\"}}");
    assert_eq!(asked.invocation.args[1], own);
}

#[test]
fn who_is_logged_in_without_a_key_keeps_the_providers_ports_and_the_record_says_so() {
    for (keys, serve) in [(&[][..], Some((|_| Ok(())) as ServeGateway)), (&["KEY"], None)] {
        let mut asked = request(&[("KEY", "real")], &[], variable(), keys);
        assert!(open(&mut asked, serve).unwrap().is_none());
        assert_eq!(asked.invocation.env, [("KEY".to_owned(), "real".to_owned())]);
        assert_eq!(ports(&asked), [8787, 443, 4000]);
        let mut held = WallsHeld::default();
        note(&mut held, asked.walls.unwrap().gateway.as_ref().unwrap());
        assert_eq!((held.held.len(), held.missing[0].wall), (0, Wall::Key));
    }
}
