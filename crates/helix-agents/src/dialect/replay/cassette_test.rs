use super::*;

fn parsed(text: &str) -> Result<Cassette, CassetteError> {
    Cassette::parse(text, Path::new("c.yaml"))
}

#[test]
fn takes_are_found_by_key_and_number() {
    let cassette = parsed(
            "helix_cassette: 1\ntakes:\n- {key: a, actions: [{say: one}]}\n- {key: a, repeat: true}\n- {key: '*', repeat: true}\n",
        )
        .unwrap();
    assert_eq!(cassette.take("a", 1).unwrap().actions, [CassetteAction::Say("one".into())]);
    assert_eq!(cassette.take("a", 7).unwrap().take, Some(2));
    assert_eq!(cassette.take("b", 2).unwrap().key, "*");
    let strict = parsed("helix_cassette: 1\ntakes: [{key: a}]").unwrap();
    assert_eq!(strict.take("a", 2).unwrap_err().to_string(), "no take 2 of \"a\"; the cassette has: a 1");
}

#[test]
fn mistakes_are_shown_with_their_place() {
    let error = parsed("helix_cassette: 1\ntakes:\n- key: a\n  actoins: []\n").unwrap_err();
    let shown = error.to_string();
    assert!(shown.starts_with("c.yaml:4:3: ") && shown.contains("actoins"), "{shown}");
    let later = parsed("helix_cassette: 2\ntakes: []").unwrap_err().to_string();
    assert_eq!(later, "c.yaml: helix_cassette is 2, and this Helix reads 1");
    let twice = "helix_cassette: 1\ntakes: [{key: a, take: 2}, {key: a, take: 2}]";
    assert_eq!(parsed(twice).unwrap_err().to_string(), "c.yaml: duplicate take 2 of \"a\"");
}
