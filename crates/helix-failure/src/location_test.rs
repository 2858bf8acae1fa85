use super::*;

#[test]
fn places_are_read_in_every_tools_form() {
    let locator = Locator::new().unwrap();
    let read =
        |text: &str| locator.read(text).into_iter().map(|at| (at.path, at.line, at.column)).next().unwrap_or_default();
    assert_eq!(read("  File \"/x/a.py\", line 3, in f"), ("/x/a.py".into(), 3, None));
    assert_eq!(read(" --> src/main.rs:4:18"), ("src/main.rs".into(), 4, Some(18)));
    assert_eq!(read(r"C:\app\a.ts:3:4 - error TS2322"), (r"C:\app\a.ts".into(), 3, Some(4)));
    assert_eq!(read("a.ts(3,4): error TS1005"), ("a.ts".into(), 3, Some(4)));
    assert_eq!(read("    at f (file:///x/job.mjs:1:31)"), ("/x/job.mjs".into(), 1, Some(31)));
    assert_eq!(read("in src/cart.php on line 2"), ("src/cart.php".into(), 2, None));
    assert_eq!(read("died at a.pl line 7."), ("a.pl".into(), 7, None));
    assert_eq!(read("parsing [h.cfg:2] : unknown keyword"), ("h.cfg".into(), 2, None));
    assert_eq!(read("app/[id]/page.tsx:3:4"), ("app/[id]/page.tsx".into(), 3, Some(4)));
    assert_eq!(read("at 10:30:12"), (String::new(), 0, None));
}
