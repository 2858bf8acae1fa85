use super::*;

#[test]
fn the_documented_example_is_valid() {
    let page = include_str!("../../../docs/consultant.md");
    let example = page.split("```toml\n").find(|part| part.contains("[experts.")).unwrap();
    let experts = parse_experts(Path::new("experts.toml"), example.split("```").next().unwrap()).unwrap();
    assert_eq!(experts[0].name, "databases");
    assert_eq!(experts[0].tools, ["Read", "Glob", "Grep"]);
    assert_eq!(experts[0].model.as_deref(), Some("haiku"));
}

#[test]
fn helixs_own_experts_are_there_unless_replaced() {
    let names = |experts: &[SubAgent]| experts.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    assert_eq!(parse_experts(Path::new("built in"), BUILT_IN).map(|read| read.len()), Ok(6));
    let all = with_built_in(Vec::new());
    assert_eq!(names(&all), ["architecture", "databases", "infrastructure", "security", "testing", "documentation"]);
    assert!(all.iter().all(|one| one.tools == READING_TOOLS && one.model.is_none()), "{all:?}");
    let own = SubAgent { prompt: "Ours.".into(), ..all[1].clone() };
    let chosen = with_built_in(vec![own.clone()]);
    assert_eq!((chosen.len(), &chosen[0]), (6, &own));
    // All of them must fit into one argument of a process, beside as many of the user's own.
    assert!(all.iter().map(|one| one.description.len() + one.prompt.len()).sum::<usize>() < 20_000);
}

#[test]
fn every_problem_has_place_cause_and_remedy() {
    for (text, place, cause) in [
        ("[experts.a]\nprompt = \"x\"\n", "2:1", "no `description`"),
        ("[experts.a]\ndescription = \"x\"\npromt = \"y\"\n", "3:1", "no key `promt`"),
        ("[experts.A_b]\ndescription = \"x\"\nprompt = \"y\"\n", "1:10", "cannot be the name of an expert"),
        ("[experts.a]\ndescription = 3\nprompt = \"y\"\n", "2:15", "must be text"),
        ("[experts.a]\ndescription = \"x\"\nprompt = \" \"\n", "3:10", "is empty"),
        ("[experts.a]\ndescription = \"x\"\nprompt = \"y\"\ntools = \"Read\"\n", "4:9", "must be a list"),
        ("[experts.a]\ndescription = \"x\"\nprompt = \"y\"\ntools = []\n", "4:9", "has no tools"),
        ("[expert.a]\n", "1:2", "no key `expert`"),
        ("experts = 1\n", "1:11", "must be a mapping"),
        ("[experts.a\n", "1:", ""),
    ] {
        let problems = parse_experts(Path::new("e.toml"), text).unwrap_err();
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(
            shown.iter().any(|one| one.starts_with(&format!("e.toml:{place}")) && one.contains(cause)),
            "{text:?}: {shown:?}"
        );
        assert!(problems.iter().all(|one| one.help.is_some()), "{shown:?}");
    }
    let long = format!("[experts.a]\ndescription = \"x\"\nprompt = \"{}\"\n", "x".repeat(6_001));
    assert!(parse_experts(Path::new("e.toml"), &long).is_err());
    let many: String = (0..17).map(|n| format!("[experts.a{n}]\ndescription = \"x\"\nprompt = \"y\"\n")).collect();
    assert!(parse_experts(Path::new("e.toml"), &many).is_err());
    assert_eq!(parse_experts(Path::new("e.toml"), "").unwrap(), []);
}
