//! The Consultant's template: the built-in one holds, and a user's own is refused with a place when it does not.

use helix_adr::{Adr, NoRepo, built_in_rules, check, complete};
use helix_plan::Plan;

use super::*;

fn problem(text: &str) -> String {
    let problems = ConsultantPrompt::parse(Path::new("own.md.j2"), text).unwrap_err();
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn with_body(body: &str) -> String {
    format!("---\nprompt: consultant\nversion: {PROMPT_VERSION}\n---\n{body}")
}

#[test]
fn the_built_in_template_is_valid_and_names_what_the_types_know() {
    ConsultantPrompt::parse(Path::new("consultant.md.j2"), BUILT_IN).unwrap();
    for inputs in samples() {
        let text = ConsultantPrompt::default().render(&inputs).unwrap();
        assert!(text.starts_with("You are the Consultant of Helix"), "{text}");
        // One list each, from the types.
        for kind in PhaseType::ALL {
            assert!(text.contains(kind.word()), "{}", kind.word());
        }
        for step in Step::ALL {
            assert!(text.contains(&format!("<!-- STEP: {} -->", step.word())), "{}", step.word());
        }
        for gate in ["criteria_covered", "review_approved", "approval", "manual", "tests_pass (command)", "adr_valid"] {
            assert!(text.contains(gate), "{gate}");
        }
        // The line that ends Helix's part is the one that the rule names, whatever the template.
        assert!(text.ends_with(MESSAGE_FORM) && MESSAGE_FORM.contains(USER_MESSAGE), "{text}");
        assert!(!text.contains("mcp__helix__") || !inputs.tools.is_empty());
        // A decision is accepted by the user's yes, and its plan proves its criteria.
        assert!(text.contains("has the gate `criteria_covered`") && text.contains("with `verify: true`"), "{text}");
        let accept =
            if inputs.tools.is_empty() { "`helix adr accept 1`" } else { "`adr_accept` with the decision's number" };
        assert!(text.contains(accept), "{text}");
    }
}

#[test]
fn the_forms_that_it_shows_pass_helixs_own_checks() {
    let parsed = Plan::parse("phases.yaml", PLAN_EXAMPLE).unwrap();
    assert_eq!(parsed.warnings, []);
    let template = helix_project::adr_files::template();
    let text: Vec<&str> = template.lines().collect();
    let text = text[1..text.len() - 1].join("\n");
    let adr = Adr::parse("adr-draft.md", &text);
    let errors: Vec<_> = check(&adr, &NoRepo)
        .into_iter()
        .chain(complete(&adr, &built_in_rules()))
        .filter(Diagnostic::is_error)
        .collect();
    assert_eq!(errors, []);
}

#[test]
fn an_own_template_is_rendered_with_the_same_inputs() {
    let own = "Be brief. Work in {{ workspace }}. {% for tool in tools %}{{ tool }} {% endfor %}\n";
    let prompt = ConsultantPrompt::parse(Path::new("own.md.j2"), &with_body(own)).unwrap();
    let [_, inputs] = samples();
    assert_eq!(prompt.render(&inputs).unwrap(), format!("Be brief. Work in /w. adr_check {MESSAGE_FORM}"));
}

#[test]
fn what_is_wrong_with_an_own_template_is_said_with_its_place() {
    for (text, place, cause) in [
        ("You are nice.\n".to_owned(), "1:1", "no front matter"),
        ("---\nprompt: consultant\n".to_owned(), "1:1", "not closed"),
        ("---\nprompt: consultant\nversion: 7\n---\n".to_owned(), "3:10", "`version` is `7`"),
        ("---\nprompt: phase\nversion: 2\n---\n".to_owned(), "2:9", "`prompt` is `phase`"),
        ("---\nversion: 2\n---\n".to_owned(), "1:1", "no `prompt`"),
        (with_body("one\n{{ workspce }}\n"), "6:4", "unknown input `workspce`"),
        (with_body("one\n\n{% if tools %}\nx\n"), "", "cannot be rendered"),
        (with_body("one\n{% for tool in tools %}{{ tool.name.first }}{% endfor %}\n"), "6:1", "undefined"),
        (with_body("{{ workspace | upercase }}\n"), "5:1", "unknown filter"),
        (with_body("{% if false %}{{ hidden }}{% endif %}\n"), "5:18", "unknown input `hidden`"),
    ] {
        let told = problem(&text);
        assert!(told.starts_with(&format!("own.md.j2:{place}")) && told.contains(cause), "{text:?}: {told}");
        assert!(told.contains("hint:"), "{told}");
    }
    assert!(problem(&with_body("{{ workspce }}")).contains("did you mean `workspace`?"));
    let endless = "{% for a in range(9000) %}{% for b in range(9000) %}x{% endfor %}{% endfor %}";
    assert!(problem(&with_body(endless)).contains("fuel"), "{}", problem(&with_body(endless)));
}

#[test]
fn the_documented_inputs_are_the_real_ones() {
    let page = include_str!("../../../docs/consultant.md");
    for input in prompt_inputs() {
        assert!(page.contains(&format!("`{input}`")), "docs/consultant.md does not name the input {input}");
    }
}
