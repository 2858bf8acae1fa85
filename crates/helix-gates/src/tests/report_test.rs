use super::*;

#[test]
fn runners_that_are_started_directly_write_a_report() {
    let cases = [
        ("pytest -q tests", Runner::Reports, true),
        (".venv/bin/python3 -m pytest", Runner::Reports, true),
        ("uv run pytest", Runner::Reports, true),
        ("coverage run -m pytest", Runner::Reports, true),
        ("pytest --junitxml=a.xml", Runner::Reports, false),
        ("python -m unittest -v", Runner::Unittest, false),
        ("node --test", Runner::Reports, true),
        ("node --test --test-reporter=spec", Runner::Other, false),
        ("sh -c 'pytest a && pytest b'", Runner::Other, false),
        ("npm test", Runner::Other, false),
        ("cargo test", Runner::Other, false),
    ];
    for (command, runner, own) in cases {
        let argv = helix_plan::split_words(command).unwrap();
        let asked = asked(&argv, Some("-x"));
        assert_eq!((asked.runner, asked.report.as_deref() == Some(FILE)), (runner, own), "{command}");
        if let Some((_, options)) = asked.variables.first() {
            assert_eq!(options, "-x --junitxml=.helix-report.xml");
        }
    }
}
