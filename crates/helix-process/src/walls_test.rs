use helix_language::RECORD;

use super::*;

fn missing(wall: Wall) -> WallsHeld {
    WallsHeld { landlock: 4, held: vec![], missing: vec![NoWall { wall, why: "too old".into() }] }
}

/// `required` is about what Landlock and a closed network keep apart; the rest is recorded.
#[test]
fn a_required_sandbox_lacks_files_signals_or_a_network_that_is_to_be_closed() {
    for wall in [Wall::Files, Wall::Signals] {
        let told = RECORD.words(&shortfall(&missing(wall), &Network::Open).unwrap());
        assert_eq!(told, format!("no wall around {wall}: too old"));
    }
    assert_eq!(shortfall(&missing(Wall::Network), &Network::Open), None);
    assert!(shortfall(&missing(Wall::Network), &Network::Closed).is_some());
    assert_eq!(shortfall(&missing(Wall::Sockets), &Network::Closed), None);
    assert_eq!(shortfall(&WallsHeld::default(), &Network::Closed), None);
}
