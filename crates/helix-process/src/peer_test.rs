use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};

use super::*;

/// A shell that says its own number, and stays.
fn shell(script: &str, variables: &[(&str, &str)]) -> (Child, i32) {
    let mut command = Command::new("sh");
    command.args(["-c", script]).env_clear().envs(variables.iter().copied());
    command.env("PATH", std::env::var("PATH").unwrap()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = String::new();
    let stdout = child.stdout.as_mut().unwrap();
    let mut byte = [0];
    while stdout.read_exact(&mut byte).is_ok() && byte[0] != b'\n' {
        said.push(char::from(byte[0]));
    }
    (child, said.parse().unwrap())
}

fn own() -> i32 {
    i32::try_from(std::process::id()).unwrap()
}

#[test]
fn a_process_below_a_marked_one_stands_within_its_run_whatever_its_own_environment_says() {
    let runs = Path::new("/state/runs");
    assert_eq!(standing(own(), runs), Standing::Outside);
    assert_eq!(standing(i32::MAX, runs), Standing::Unknown);
    let deep = "env -i sh -c 'echo $$; read x'";
    for (mark, found) in [
        (("HELIX_RUN_DIR", "/state/runs/j1.work.1"), Standing::Within("j1.work.1".into())),
        (("HELIX_WITHIN_RUN", "/state/runs/j1.work.1"), Standing::Within("j1.work.1".into())),
        // Another host's run is none of this one's.
        (("HELIX_RUN_DIR", "/elsewhere/runs/j1.work.1"), Standing::Outside),
        (("HELIX_RUN_DIR", "/state/runs-of-others/j1"), Standing::Outside),
    ] {
        let (mut child, pid) = shell(&format!("{deep}; true"), &[mark]);
        assert_eq!(standing(pid, runs), found, "{mark:?}");
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}

#[test]
fn a_keeper_is_known_by_its_command_line() {
    let runs = Path::new("/state/runs");
    let keeper = "env -i sh -c 'echo $$; read x' keeper /state/runs/j1.work.1; true";
    let (mut child, pid) = shell(keeper, &[]);
    assert_eq!(standing(pid, runs), Standing::Within("j1.work.1".into()));
    drop(child.stdin.take());
    child.wait().unwrap();
}

#[test]
fn the_process_behind_a_connection_is_found_and_one_that_is_gone_is_nobody() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(listener) = TcpListener::bind(address) else { continue };
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (served, peer) = listener.accept().unwrap();
        let at = served.local_addr().unwrap();
        assert_eq!(standing_of_tcp(peer, at, Path::new("/state/runs")), Standing::Outside, "{address}");
        drop(client);
        assert_eq!(standing_of_tcp(peer, at, Path::new("/state/runs")), Standing::Unknown, "{address}");
    }
}

#[test]
fn all_addresses_of_this_machine_are_its_own() {
    for own in ["127.0.0.1:5", "127.8.9.10:5", "[::1]:5", "[::ffff:127.0.0.1]:5"] {
        assert!(is_of_this_machine(own.parse().unwrap()), "{own}");
    }
    // Addresses for documentation are nobody's.
    assert!(!is_of_this_machine("203.0.113.1:5".parse().unwrap()));
    let probe = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    if probe.connect("203.0.113.1:9").is_ok() {
        assert!(is_of_this_machine(probe.local_addr().unwrap()));
    }
}
