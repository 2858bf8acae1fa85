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
        let asked = asked(peer, own).unwrap();
        assert_eq!(asked.user, rustix::process::geteuid().as_raw(), "{connects}");
        let table =
            if listens.starts_with('[') || connects.contains("ffff") { "/proc/net/tcp6" } else { "/proc/net/tcp" };
        assert_eq!(in_table(table, peer, own), Some(asked), "{connects}");
        drop(client);
        assert_eq!(connected(peer, own), None, "{connects}");
    }
}

#[test]
fn a_listener_is_no_other_end() {
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let peer = SocketAddr::from(([127, 0, 0, 1], listener.local_addr().unwrap().port()));
    assert!(asked(peer, SocketAddr::from(([127, 0, 0, 1], 9))).is_err());
}
