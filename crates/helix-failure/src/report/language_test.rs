use super::*;
use crate::{advice, cause};
use helix_core::said::JOB;

const LANGUAGES: [(&str, &str); 1] = [("de", include_str!("../languages/de.txt"))];

fn pairs(source: &'static str) -> Vec<(&'static str, &'static str)> {
    let lines: Vec<&str> = source.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let pair = |two: &[&'static str]| (two[0], two[1].strip_prefix("= ").unwrap_or_else(|| panic!("{two:?}")));
    lines.chunks(2).map(pair).collect()
}

fn names(text: &str) -> std::collections::BTreeSet<&str> {
    NAME.as_ref().unwrap().captures_iter(text).map(|found| found.get(1).unwrap().as_str()).collect()
}

#[test]
fn every_language_has_every_cause_and_step_with_its_values() {
    for (code, source) in LANGUAGES {
        let pairs = pairs(source);
        let known: HashMap<&str, &str> = pairs.iter().copied().collect();
        assert_eq!(known.len(), pairs.len(), "{code} says something twice");
        for (text, said) in &pairs {
            assert_eq!(names(text), names(said), "{text}");
        }
        let slugs = cause::ALL.iter().map(|cause| cause.slug.replace('_', " "));
        let steps = cause::ALL.iter().flat_map(|cause| cause.actions).chain(advice::texts());
        let steps = steps.map(|step| step.replace(JOB, "{job}"));
        let missing: Vec<String> = slugs.chain(steps).filter(|text| !known.contains_key(text.as_str())).collect();
        assert!(missing.is_empty(), "{code} lacks {missing:?}");
    }
}

#[test]
fn what_tools_wrote_stays_and_what_they_named_is_kept() {
    let german = ReportLanguage::for_code("de");
    for (text, said) in [
        (
            "add `left-pad` to package.json: `npm install left-pad`",
            "nimm `left-pad` in package.json auf: `npm install left-pad`",
        ),
        ("find where `a.b` is defined: `git grep -n -w b`", "finde, wo `a.b` definiert ist: `git grep -n -w b`"),
        (
            "this failure was gone after a change of `a b`, `c` and 3 more (commit `0123456789ab`): check whether the same change fixes it here",
            "dieser Fehler war nach einer Änderung an `a b`, `c` und 3 weiteren (commit `0123456789ab`) weg: prüfe, ob dieselbe Änderung ihn auch hier behebt",
        ),
        ("run that test alone: `pytest a.py::test_b`", "führe diesen Test allein aus: `pytest a.py::test_b`"),
        ("open src/a.py:3", "öffne src/a.py:3"),
        ("open the file: it is cut off", "open the file: it is cut off"),
        ("exit status 3", "Exit-Status 3"),
    ] {
        assert_eq!(german.say(text), said);
        assert_eq!(ReportLanguage::for_code("en").say(text), text);
    }
}
