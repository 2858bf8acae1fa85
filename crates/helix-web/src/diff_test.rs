use super::*;

const PATCH: &str = "diff --git a/basket.sh b/basket.sh
index 1..2 100755
--- a/basket.sh
+++ b/basket.sh
@@ -1,3 +1,4 @@ total()
 one
-price=\"$1\"
+price=\"$2\"
+--- a/not-a-file
 two
\\ No newline at end of file
diff --git \"a/\\303\\244 b.txt\" \"b/\\303\\244 b.txt\"
new file mode 100644
index 0..1
--- /dev/null
+++ \"b/\\303\\244 b.txt\"
@@ -0,0 +1 @@
+@@ -1,1 +1,1 @@
diff --git a/empty b/empty
new file mode 100644
diff --git a/old.png b/old.png
deleted file mode 100644
Binary files a/old.png and /dev/null differ
";

#[test]
fn a_patch_is_read_file_by_file_and_its_lines_are_never_its_structure() {
    let files = files(PATCH);
    let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(names, ["basket.sh", "ä b.txt", "empty", "old.png"]);
    let [basket, umlaut, empty, picture] = &files[..] else { panic!("{files:?}") };
    assert_eq!((basket.added, basket.removed, basket.lines(), basket.hunks[0].head.as_str()), (2, 1, 5, "total()"));
    assert_eq!(basket.hunks[0].lines[3], Line { old: None, new: Some(3), text: "--- a/not-a-file".into() });
    assert_eq!(basket.hunks[0].lines[4], Line { old: Some(3), new: Some(4), text: "two".into() });
    assert!(umlaut.is_new && umlaut.hunks[0].lines[0].text == "@@ -1,1 +1,1 @@");
    assert!(empty.is_new && empty.hunks.is_empty());
    assert!(picture.is_gone && picture.is_binary);
}

#[test]
fn words_that_changed_are_marked_and_nothing_is_markup() {
    let shown = of_texts("let <b>a</b> = one;\n", "let <b>a</b> = two;\n").into_string();
    assert!(shown.contains("<mark>one</mark>") && shown.contains("<mark>two</mark>"), "{shown}");
    assert!(!shown.contains("<b>"), "{shown}");
    // Lines that have nothing in common are shown as they are.
    assert!(!of_texts("abc def\n", "uvw xyz\n").into_string().contains("<mark>"));
    let turned = of_texts("", "if admin\u{202e}{\n").into_string();
    assert!(turned.contains("&lt;U+202E&gt;"), "{turned}");
}

/// A page is not kept waiting by what an agent writes.
#[test]
fn texts_without_a_common_line_are_compared_in_time() {
    let text = |from: usize| (from..from + 12_000).map(|number| format!("{number:x}\n")).collect::<String>();
    let start = std::time::Instant::now();
    let shown = of_texts(&text(0), &text(20_000)).into_string();
    assert!(shown.contains("2ebf") && start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn what_is_no_patch_is_no_file() {
    for text in
        ["", "hello", "@@ -1 +1 @@\n+x", "+++ b/x", "diff --git", "diff --git ", "@@ -9999999999999999999999,1 +1 @@"]
    {
        assert!(files(text).len() <= 1, "{text}");
    }
}
