use std::net::{TcpListener, TcpStream};

use super::*;

#[test]
fn the_kernel_names_the_same_socket_as_its_tables() {
    // The last is an IPv4 connection of a socket of IPv6.
    for (listens, connects) in [("127.0.0.1:0", "127.0.0.1"), ("[::1]:0", "::1"), ("127.0.0.1:0", "::ffff:127.0.0.1")] {
        let Ok(listener) = TcpListener::bind(listens) else { continue };
        let port = listener.local_addr().unwrap().port();
        let Ok(client) = TcpStream::connect((connects.parse::<IpAddr>().unwrap(), port)) else { continue };
        let (served, peer) = listener.accept().unwrap();
        let own = served.local_addr().unwrap();
        let table =
            if listens.starts_with('[') || connects.contains("ffff") { "/proc/net/tcp6" } else { "/proc/net/tcp" };
        let known = in_table(table, peer, own);
        assert_eq!(known.map(|socket| socket.user), Some(rustix::process::geteuid().as_raw()), "{connects}");
        assert_eq!(connected(peer, own), known, "{connects}");
        // Some kernels take no such questions.
        if let Ok(asked) = asked(peer, own) {
            assert_eq!(Some(asked), known, "{connects}");
        }
        drop(client);
        // A process that another test has just forked holds it until it executes its program.
        let begun = std::time::Instant::now();
        while connected(peer, own).is_some() {
            assert!(begun.elapsed().as_secs() < 10, "{connects}");
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_listener_is_no_other_end() {
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let peer = SocketAddr::from(([127, 0, 0, 1], listener.local_addr().unwrap().port()));
    assert!(asked(peer, SocketAddr::from(([127, 0, 0, 1], 9))).is_err());
}
