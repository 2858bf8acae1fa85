//! Decisions as a static site: an index with a search, a page for each decision, and the graph.
//!
//! Must not write files or reach a network. Nothing that stands in a decision becomes markup of its own, and no page loads anything
//! from elsewhere.

mod page;
mod svg;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use super::graph::{AdrGraph, Link};
use super::syntax::Adr;
use super::words::{AdrId, Language};
use page::{body, html_text};

/// What a site calls its parts, in the language of its readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteWords {
    /// Language of the pages.
    pub language: Language,
    pub decisions: String,
    pub graph: String,
    pub search: String,
    /// Said where nothing is found.
    pub nothing: String,
    pub title: String,
    pub status: String,
    pub date: String,
    /// What a decision does to another one.
    pub supersedes: String,
    pub depends_on: String,
    pub related_to: String,
    /// What is done to it.
    pub superseded_by: String,
    pub needed_by: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteFile {
    /// Relative to the site.
    pub path: String,
    pub text: String,
}

/// Says in each page who has made it.
pub const SITE_MARK: &str = "<meta name=\"generator\" content=\"helix adr site\">";

const STYLE: &str = include_str!("style.css");
const SEARCH: &str = include_str!("search.js");

pub fn site(adrs: &[Adr], graph: &AdrGraph, words: &SiteWords) -> Vec<SiteFile> {
    let site = Site::new(adrs, graph, words);
    let mut files = vec![
        SiteFile { path: "index.html".into(), text: site.index() },
        SiteFile { path: "search.js".into(), text: site.search() },
        SiteFile { path: "graph.html".into(), text: site.graph() },
    ];
    files.extend(
        adrs.iter().map(|adr| SiteFile { path: format!("decisions/{}", site.name_of(adr)), text: site.page(adr) }),
    );
    files
}

struct Site<'a> {
    adrs: &'a [Adr],
    graph: &'a AdrGraph,
    words: &'a SiteWords,
    /// Pages by the names of their files.
    pages: BTreeMap<&'a str, String>,
    /// Decisions by their ids; the first of several.
    ids: HashMap<AdrId, &'a Adr>,
    /// Links of each decision, as they read from it.
    links: HashMap<&'a AdrId, Vec<(&'a str, &'a AdrId)>>,
}

fn file_name(adr: &Adr) -> &str {
    adr.file.rsplit('/').next().unwrap_or(&adr.file)
}

impl<'a> Site<'a> {
    fn new(adrs: &'a [Adr], graph: &'a AdrGraph, words: &'a SiteWords) -> Self {
        let pages = adrs.iter().map(|adr| (file_name(adr), page_name(file_name(adr)))).collect();
        let mut ids = HashMap::new();
        for adr in adrs {
            if let Some(id) = adr.decided_id() {
                ids.entry(id).or_insert(adr);
            }
        }
        let mut links: HashMap<&AdrId, Vec<(&str, &AdrId)>> = HashMap::new();
        for edge in &graph.edges {
            let (there, back) = match edge.link {
                Link::Supersedes => (&words.supersedes, &words.superseded_by),
                Link::DependsOn => (&words.depends_on, &words.needed_by),
                Link::Related => (&words.related_to, &words.related_to),
            };
            links.entry(&edge.from).or_default().push((there, &edge.to));
            links.entry(&edge.to).or_default().push((back, &edge.from));
        }
        Self { adrs, graph, words, pages, ids, links }
    }

    fn name_of(&self, adr: &Adr) -> &str {
        self.pages.get(file_name(adr)).map_or("", String::as_str)
    }

    /// A whole page; `up` leads to the site's root.
    fn whole(&self, title: &str, up: &str, main: &str, scripts: &str) -> String {
        let language = self.words.language.pick("en", "de");
        let (decisions, graph) = (html_text(&self.words.decisions), html_text(&self.words.graph));
        format!(
            "<!doctype html>\n<html lang=\"{language}\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-adr'; base-uri 'none'; form-action 'none'\">\n\
             {SITE_MARK}\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<nav><a href=\"{up}index.html\">{decisions}</a> <a href=\"{up}graph.html\">{graph}</a></nav>\n\
             <main>\n{main}</main>\n{scripts}</body>\n</html>\n",
            html_text(title)
        )
    }

    fn status(&self, adr: &Adr) -> String {
        adr.status().map_or_else(String::new, |status| {
            let word = status.word_in(self.words.language);
            format!("<span class=\"status {}\">{word}</span>", status.word().to_lowercase())
        })
    }

    fn date(adr: &Adr) -> String {
        adr.front.as_ref().and_then(|front| front.date.as_ref()).map(|date| html_text(&date.value)).unwrap_or_default()
    }

    fn index(&self) -> String {
        let words = self.words;
        let mut rows = String::new();
        for adr in self.adrs {
            let id = adr.id().map(|id| html_text(&shown(&id))).unwrap_or_default();
            let _written = writeln!(
                rows,
                "<tr><td>{id}</td><td><a href=\"decisions/{}\">{}</a></td><td>{}</td><td>{}</td></tr>",
                self.name_of(adr),
                html_text(adr.title()),
                self.status(adr),
                Self::date(adr)
            );
        }
        let main = format!(
            "<h1>{}</h1>\n<p><input id=\"search\" type=\"search\" placeholder=\"{search}\" aria-label=\"{search}\" hidden></p>\n<table id=\"decisions\">\n\
             <thead><tr><th></th><th>{}</th><th>{}</th><th>{}</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n<p id=\"nothing\" hidden>{}</p>\n",
            html_text(&words.decisions),
            html_text(&words.title),
            html_text(&words.status),
            html_text(&words.date),
            html_text(&words.nothing),
            search = html_text(&words.search),
        );
        self.whole(&words.decisions, "", &main, "<script nonce=\"adr\" src=\"search.js\"></script>\n")
    }

    /// What is searched, in the order of the index, and how.
    fn search(&self) -> String {
        let texts = self.adrs.iter().map(|adr| {
            let id = adr.id().map(|id| id.to_string()).unwrap_or_default();
            let words: Vec<&str> = adr.body().split_whitespace().collect();
            script_text(&format!("{id} {} {}", adr.title(), words.join(" ")).to_lowercase())
        });
        format!("const texts = [\n{}\n];\n{SEARCH}", texts.collect::<Vec<_>>().join(",\n"))
    }

    fn graph(&self) -> String {
        let words = self.words;
        let drawing = svg::drawing(self.graph, |id| {
            let adr = self.ids.get(id)?;
            Some(format!("decisions/{}", self.name_of(adr)))
        });
        let key = format!(
            "<p class=\"key\"><span class=\"supersedes\">{}</span> <span class=\"depends\">{}</span> <span class=\"related\">{}</span></p>\n",
            html_text(&words.supersedes),
            html_text(&words.depends_on),
            html_text(&words.related_to)
        );
        self.whole(&words.graph, "", &format!("<h1>{}</h1>\n{key}{drawing}", html_text(&words.graph)), "")
    }

    fn page(&self, adr: &Adr) -> String {
        let mut facts = String::new();
        let id = adr.decided_id();
        if let Some(id) = &id {
            let _written = write!(facts, "<span>{}</span> ", html_text(&shown(id)));
        }
        let _written = write!(facts, "{} <span>{}</span>", self.status(adr), Self::date(adr));
        let mut links = String::new();
        for (word, other) in id.as_ref().and_then(|id| self.links.get(id)).into_iter().flatten() {
            let other = match self.ids.get(*other) {
                Some(found) => format!(
                    "<a href=\"{}\">{} {}</a>",
                    self.name_of(found),
                    html_text(&shown(other)),
                    html_text(found.title())
                ),
                None => html_text(&shown(other)),
            };
            let _written = writeln!(links, "<li>{} {other}</li>", html_text(word));
        }
        let links = if links.is_empty() { links } else { format!("<ul class=\"links\">\n{links}</ul>\n") };
        let title = super::form::title_heading(&adr.sections);
        let heading = match title {
            Some(_) => String::new(),
            None => format!("<h1>{}</h1>\n", html_text(adr.title())),
        };
        let page = |target: &str| {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let name = self.pages.get(path.rsplit('/').next().unwrap_or(path))?;
            Some(if anchor.is_empty() { name.clone() } else { format!("{name}#{anchor}") })
        };
        let main = format!(
            "<p class=\"facts\">{facts}</p>\n{links}<article>\n{heading}{}</article>\n",
            body(adr.body(), page)
        );
        self.whole(adr.title(), "../", &main, "")
    }
}

/// An id as pages show it: of a name that begins with a date, the date.
fn shown(id: &AdrId) -> String {
    match id {
        AdrId::Named(name) => name.get(..super::words::DATE).unwrap_or(name).to_owned(),
        AdrId::Number(_) | AdrId::Draft => id.to_string(),
    }
}

/// The name of a page: letters, digits, `-`, `_` and `.`, whatever the file is called; each file has its own.
fn page_name(file: &str) -> String {
    let stem = file.strip_suffix(".md").unwrap_or(file);
    let mut out = String::new();
    for character in stem.chars() {
        match character {
            plain if plain.is_ascii_alphanumeric() || matches!(plain, '-' | '.') => out.push(plain),
            other => {
                let _written = write!(out, "_{:x}_", u32::from(other));
            }
        }
    }
    format!("{out}.html")
}

/// A text in quotes for a script.
fn script_text(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            odd if odd.is_control() || matches!(odd, '<' | '\u{2028}' | '\u{2029}') => {
                let _written = write!(out, "\\u{:04x}", u32::from(odd));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
