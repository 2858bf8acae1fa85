//! Decisions that have all of some words, with the lines that say so.
//!
//! Must not know where they are shown.

use super::syntax::Adr;

/// A decision that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found<'a> {
    pub adr: &'a Adr,
    /// Lines that have one of the words, from 1, as they are written.
    pub lines: Vec<(usize, &'a str)>,
}

/// Finds decisions whose title, id or text has all of these words, in any case and order; those with all of them in the title first.
pub fn search<'a>(adrs: &'a [Adr], words: &[String]) -> Vec<Found<'a>> {
    let words: Vec<String> = words.iter().flat_map(|word| word.split_whitespace()).map(str::to_lowercase).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(bool, Found<'_>)> = Vec::new();
    for adr in adrs {
        let head = format!("{} {}", adr.id().map(|id| id.to_string()).unwrap_or_default(), adr.title()).to_lowercase();
        let text = adr.source.to_lowercase();
        if !words.iter().all(|word| head.contains(word) || text.contains(word)) {
            continue;
        }
        let has = |line: &str| {
            let line = line.to_lowercase();
            words.iter().any(|word| line.contains(word))
        };
        let lines =
            adr.source.lines().zip(1..).filter(|(line, _)| has(line)).map(|(line, number)| (number, line)).collect();
        found.push((!words.iter().all(|word| head.contains(word)), Found { adr, lines }));
    }
    found.sort_by_key(|(later, _)| *later);
    found.into_iter().map(|(_, found)| found).collect()
}
