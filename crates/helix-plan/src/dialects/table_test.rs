use super::{KEYS, Meaning, OldPlace, WORDS};

/// The docs' words for a place.
fn title(place: OldPlace) -> &'static str {
    match place {
        OldPlace::Plan => "plan",
        OldPlace::Project => "`project` of a plan",
        OldPlace::Phase => "phase",
        OldPlace::Config => "`config` of a phase",
        OldPlace::PhaseConfig => "`phase_config` of a phase",
        OldPlace::Files => "`input` or `output` of a phase",
        OldPlace::Gate => "gate",
    }
}

#[test]
fn the_docs_have_an_example_of_every_row() {
    let docs = include_str!("../../../../docs/plan.md");
    let table = docs.split("<!-- older forms -->\n").nth(1).unwrap().split("<!-- end -->").next().unwrap();
    let shows = |needle: &str| table.lines().any(|line| line.contains(needle));
    for row in KEYS {
        // An example of a mapping may stand at the key of the mapping, and one of its parts at the mapping.
        let found = table.lines().find(|line| {
            let mut cells = line.split(" | ").map(|cell| cell.trim_start_matches("| "));
            let (place, old) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
            let has_key =
                [format!("`{}:", row.key), format!(" {}:", row.key)].iter().any(|key| old.contains(key.as_str()));
            let is_part = matches!(row.place, OldPlace::Project | OldPlace::Config | OldPlace::PhaseConfig);
            has_key && (is_part || place == title(row.place))
        });
        assert!(found.is_some(), "{row:?}");
        if let Meaning::Ignored(why) = row.meaning {
            assert!(shows(&format!("{}:", row.key)) && shows(&format!("| ignored: {why} |")), "{row:?}");
        }
    }
    for (_, word, modern) in WORDS {
        assert!(table.lines().any(|line| line.contains(&format!("type: {word}")) && line.contains(modern)), "{word}");
    }
}
