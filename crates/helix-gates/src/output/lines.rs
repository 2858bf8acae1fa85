//! How a reader finds tests in the lines that its runner prints.
//!
//! Must not know any runner.

use helix_core::evidence::TestCounts;

use crate::test_run::FailedTest;

/// Adds up the counts of all lines that are a summary; `None` when none is.
pub(super) fn summed(lines: &[&str], summary: impl Fn(&str) -> Option<TestCounts>) -> Option<TestCounts> {
    lines.iter().filter_map(|line| summary(line)).reduce(|sum, counts| sum + counts)
}

/// The words by which a runner counts tests that passed, failed and were skipped.
pub(super) type Words<'a> = [&'a [&'a str]; 3];

/// Adds up the numbers by what their words mean.
pub(super) fn counted(pairs: &[(u32, &str)], [passed, failed, skipped]: Words<'_>) -> TestCounts {
    let sum = |words: &[&str]| {
        let numbers = pairs.iter().filter(|(_, word)| words.contains(word)).map(|(number, _)| *number);
        numbers.fold(0, u32::saturating_add)
    };
    TestCounts { passed: sum(passed), failed: sum(failed), skipped: sum(skipped) }
}

/// Every number that is followed by a word: `3 passed, 1 failed` gives `(3, passed)` and `(1, failed)`.
pub(super) fn pairs(line: &str) -> Vec<(u32, &str)> {
    let tokens: Vec<&str> =
        line.split(|c: char| c.is_whitespace() || ",;|()=".contains(c)).filter(|token| !token.is_empty()).collect();
    tokens.windows(2).filter_map(|pair| Some((pair[0].parse().ok()?, pair[1]))).collect()
}

/// The lines after this one for as long as they belong to it.
pub(super) fn below<'a>(lines: &[&'a str], index: usize, belongs: impl Fn(&str) -> bool) -> Vec<&'a str> {
    lines[index + 1..].iter().copied().take_while(|line| belongs(line)).collect()
}

/// The tests whose `title` stands above what is printed about them.
pub(super) fn failures<'a>(
    lines: &[&'a str],
    title: impl Fn(&'a str) -> Option<&'a str>,
    belongs: impl Fn(&str) -> bool,
    place: impl Fn(&[&str]) -> Option<(String, u32)>,
) -> Vec<FailedTest> {
    let titles = lines.iter().enumerate().filter_map(|(index, line)| Some((index, title(line)?)));
    let failure = |(index, name): (usize, &str)| {
        // The next one begins its own, also where what ends this one is missing.
        let rest = lines[index + 1..].iter().copied();
        let body: Vec<&str> = rest.take_while(|line| belongs(line) && title(line).is_none()).collect();
        FailedTest::new(name.trim(), place(&body), &body)
    };
    titles.map(failure).collect()
}

/// Splits `path:line` or `path:line:column` with anything after it.
pub(super) fn location(text: &str) -> Option<(String, u32)> {
    let text = text.trim().trim_start_matches("file://");
    // A path has an ending and no gaps.
    let (ending, gap) = (text.find('.')?, text.find(char::is_whitespace).unwrap_or(text.len()));
    let mut from = 0;
    while let Some(colon) = text[from..].find(':').map(|index| index + from) {
        let rest = &text[colon + 1..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let file = &text[..colon];
        let named = (ending..=gap).contains(&colon);
        if digits > 0 && named && rest[digits..].chars().next().is_none_or(|c| !c.is_alphanumeric()) {
            return Some((file.to_owned(), rest[..digits].parse().ok()?));
        }
        from = colon + 1;
    }
    None
}
