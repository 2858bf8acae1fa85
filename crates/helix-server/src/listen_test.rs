use super::*;

#[test]
fn tools_are_reached_over_loopback_where_every_address_is_served() {
    let url = |address: &str| tools_url(address.parse().unwrap());
    assert_eq!(url("0.0.0.0:7331"), "http://127.0.0.1:7331/mcp");
    assert_eq!(url("[::]:7331"), "http://[::1]:7331/mcp");
    assert_eq!(url("127.0.0.1:1"), "http://127.0.0.1:1/mcp");
}
