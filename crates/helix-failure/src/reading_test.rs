use super::*;

fn marks(text: &str) -> Vec<(String, Mark)> {
    prepare(&Forms::new().unwrap(), &LogSample::from_texts("", text))
        .into_iter()
        .map(|line| (line.text, line.mark))
        .collect()
}

#[test]
fn colours_progress_and_prefixes_go() {
    let got = marks("\x1b[31merror\x1b[0m: x\r\n10%\r20%\rfatal: y\n2026-01-01T00:00:00Z failed: z\n#12 0.345 sh: x\n");
    let texts: Vec<_> = got.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, ["error: x", "fatal: y", "failed: z", "sh: x"]);
}

#[test]
fn the_raising_line_is_found_in_tracebacks_panics_and_stacks() {
    let raised =
        |text: &str| marks(text).into_iter().find(|(_, mark)| matches!(mark, Mark::Raised)).map(|(text, _)| text);
    assert_eq!(
        raised("Traceback (most recent call last):\n  File \"a\", line 1\n    x\nKeyError: 'a'").as_deref(),
        Some("KeyError: 'a'")
    );
    assert_eq!(raised("thread 'm' panicked at a.rs:1:2:\nboom").as_deref(), Some("boom"));
    let quoted = marks("throw new Error('connection refused')\n      ^\nboom\n");
    assert_eq!((quoted[0].1, quoted[2].1), (Mark::Noise, Mark::Plain));
    // What Claude Code says of itself wherever nobody has logged in, whatever fails afterwards.
    assert_eq!(marks("Claude configuration file not found at: /home/dev/.claude.json\nboom\n")[0].1, Mark::Noise);
    assert_eq!(raised("x\nError: boom\n    at f (a.js:1:2)").as_deref(), Some("Error: boom"));
}
