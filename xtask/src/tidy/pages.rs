//! Pages of the documentation: relative links lead to files and headings that are there, and every page is in `docs/SUMMARY.md`.
//!
//! Must not reach a network: links to the web are not followed.

use std::collections::{BTreeMap, BTreeSet};

use super::{Breach, SourceFile};

const SUMMARY: &str = "docs/SUMMARY.md";

/// Checks the links of all pages, and the table of contents.
pub(super) fn check(files: &[SourceFile]) -> Vec<Breach> {
    let known: BTreeMap<&str, &SourceFile> = files.iter().map(|file| (file.path.as_str(), file)).collect();
    let is_page = |path: &str| {
        path.ends_with(".md") && (path.starts_with("docs/") && !path.starts_with("docs/errors/") || !path.contains('/'))
    };
    let mut breaches = Vec::new();
    let mut listed = BTreeSet::new();
    for file in files.iter().filter(|file| is_page(&file.path)) {
        for (line, target) in links(&file.text) {
            let place = format!("{}:{line}", file.path);
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if path.is_empty() { file.path.clone() } else { resolved(&file.path, path) };
            if file.path == SUMMARY {
                listed.insert(path.clone());
            }
            let below = format!("{path}/");
            let is_directory = || files.iter().any(|other| other.path.starts_with(&below));
            match known.get(path.as_str()) {
                None if is_directory() => {}
                None => breaches.push(Breach::new(place, format!("the link leads to {path}, which does not exist"))),
                Some(page) if anchor.is_empty() || !path.ends_with(".md") || anchors(&page.text).contains(anchor) => {}
                Some(_) => breaches.push(Breach::new(place, format!("{path} has no heading #{anchor}"))),
            }
        }
    }
    if known.contains_key(SUMMARY) {
        let pages = files.iter().map(|file| file.path.as_str());
        let missing = pages
            .filter(|path| path.starts_with("docs/") && is_page(path) && *path != SUMMARY && !listed.contains(*path));
        breaches.extend(
            missing.map(|path| Breach::new(path, format!("is not in {SUMMARY}: add it where a reader looks for it"))),
        );
    }
    breaches
}

/// Lines outside of code, with their numbers; what stands between backticks is left out.
fn prose(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut fenced = false;
    text.lines().zip(1..).filter_map(move |(line, number)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fence && !fenced).then(|| (number, line.split('`').step_by(2).collect::<Vec<_>>().join("")))
    })
}

/// Relative links with their lines.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (line, prose) in prose(text) {
        let Some(whole) = text.lines().nth(line - 1) else { continue };
        for (at, _) in prose.match_indices("](") {
            let target = prose[at + 2..].split([')', ' ']).next().unwrap_or_default();
            let relative = !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:");
            // The same text in the file itself, so that it lives as long.
            found.extend(whole.find(target).filter(|_| relative).map(|at| (line, &whole[at..at + target.len()])));
        }
    }
    found
}

fn resolved(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    parts.join("/")
}

/// Names of headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let headings = text.lines().filter(|line| {
        fenced ^= line.trim_start().starts_with("```");
        !fenced && line.starts_with('#')
    });
    let name = |heading: &str| {
        let plain = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = plain.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>()
    };
    headings.map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), text: text.into() }
    }

    #[test]
    fn dead_links_and_pages_that_nobody_finds_are_named() {
        let files = [
            file("README.md", "[a](docs/a.md) [gone](docs/gone.md) `[code](x.md)` [web](https://example.org/x)"),
            file("docs/SUMMARY.md", "- [A](a.md)\n"),
            file(
                "docs/a.md",
                "# A `b`: c\n\n[top](#a-b-c) [bad](#none) [up](../README.md)\n\n```\n[no](link.md)\n```\n",
            ),
            file("docs/lost.md", "[errors](errors)\n"),
            file("docs/errors/HX0001.md", "[x](nowhere.md)\n"),
        ];
        let found: Vec<String> = check(&files).iter().map(|one| format!("{}: {}", one.place, one.what)).collect();
        assert_eq!(
            found,
            [
                "README.md:1: the link leads to docs/gone.md, which does not exist",
                "docs/a.md:3: docs/a.md has no heading #none",
                "docs/lost.md: is not in docs/SUMMARY.md: add it where a reader looks for it",
            ]
        );
    }
}
