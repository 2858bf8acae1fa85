use super::*;

#[test]
fn a_name_that_is_there_elsewhere_is_a_guess() {
    let text = "name: p\nphases:\n  - { id: a, type: development, description: A, outputs: \
                [src/routes_evolution.py, routes_evolution.py, src/api/new.py, web/index.ts, 'src/*.py', docs/page.md, lib/twice.py] }\n";
    let parsed = Plan::parse("p.yaml", text).unwrap();
    let tree = ["api/v1/routes_evolution.py", "app/index.ts", "a/twice.py", "b/twice.py", "page.md"];
    let found = guesses(&parsed.plan, tree.into_iter());
    let (first, page) = ((0, 0), (0, 5));
    assert_eq!(
        found,
        [
            Guess { at: first, output: "src/routes_evolution.py", there: "api/v1/routes_evolution.py" },
            Guess { at: page, output: "docs/page.md", there: "page.md" },
        ],
        "a new file in a directory that is there, a common name and a name that two files have are no guess"
    );
    let moved = ["src/x/other.py", "api/v1/routes_evolution.py", "docs/other.md", "page.md"];
    assert_eq!(guesses(&parsed.plan, moved.into_iter()), [], "the directory is there");
}
