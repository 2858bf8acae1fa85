//! How decisions hang together: what supersedes, builds on and touches what, and where they run in circles.
//!
//! Must not know a disk or a terminal. Linear in decisions and links; titles are data and cannot break out of a drawing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use helix_core::diagnostic::Diagnostic;
use helix_core::source_text::SourceText;

use super::codes;
use super::syntax::Adr;
use super::words::{AdrId, Status};

/// What links two decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// The first replaces the second.
    Supersedes,
    /// The first builds on the second.
    DependsOn,
    /// Both are worth reading together.
    Related,
}

impl Link {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Supersedes => "supersedes",
            Self::DependsOn => "depends on",
            Self::Related => "related to",
        }
    }
}

/// A decision in the graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdrNode {
    /// Its id.
    pub id: AdrId,
    /// Its title; the id where there is none.
    pub title: String,
    /// Its state; absent for a decision that others name and nobody wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Its file; absent as the state is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// A link in the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct AdrEdge {
    /// Who has the link.
    pub from: AdrId,
    /// Whom it names.
    pub to: AdrId,
    /// What links them.
    pub link: Link,
    /// Whether it is part of a circle.
    pub in_circle: bool,
}

/// All decisions and their links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdrGraph {
    /// In the order of their ids.
    pub nodes: Vec<AdrNode>,
    /// In the order of their ends.
    pub edges: Vec<AdrEdge>,
    /// Each circle by its members, `Supersedes` and `DependsOn` by themselves.
    pub circles: Vec<Circle>,
}

/// Most members of a circle that a message names.
const SHOWN_MEMBERS: usize = 12;

/// Decisions that lead back to themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Circle {
    /// By which link.
    pub link: Link,
    /// The way round, its first member once.
    pub members: Vec<AdrId>,
}

impl std::fmt::Display for Circle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (number, id) in self.members.iter().enumerate() {
            match number {
                0..SHOWN_MEMBERS => write!(f, "{id} → ")?,
                SHOWN_MEMBERS => write!(f, "{} more → ", self.members.len() - SHOWN_MEMBERS)?,
                _ => break,
            }
        }
        match self.members.first() {
            Some(first) => write!(f, "{first}"),
            None => Ok(()),
        }
    }
}

impl AdrGraph {
    /// Reads the links of many ADRs. Drafts are left out: nothing can name them.
    pub fn new<'a>(adrs: impl IntoIterator<Item = &'a Adr>) -> Self {
        let mut nodes: BTreeMap<AdrId, AdrNode> = BTreeMap::new();
        let mut edges: BTreeSet<(AdrId, AdrId, Link)> = BTreeSet::new();
        for adr in adrs {
            let Some(front) = &adr.front else { continue };
            let Some(id) = front.adr_id.as_ref().map(|id| id.value).filter(|id| *id != AdrId::Draft) else { continue };
            let status = front.status.as_ref().map(|status| status.value);
            let node = AdrNode { id, title: adr.title().to_owned(), status, file: Some(adr.file.clone()) };
            nodes.entry(id).or_insert(node);
            edges.extend(front.supersedes.iter().map(|other| (id, other.value, Link::Supersedes)));
            // Said by either side, it is one link.
            edges.extend(front.superseded_by.iter().map(|other| (other.value, id, Link::Supersedes)));
            edges.extend(front.depends_on.iter().map(|other| (id, other.value, Link::DependsOn)));
            edges.extend(front.related_to.iter().filter_map(|other| {
                let (low, high) = (id.min(other.value), id.max(other.value));
                (low != high).then_some((low, high, Link::Related))
            }));
        }
        edges.retain(|(from, to, _)| *from != AdrId::Draft && *to != AdrId::Draft);
        for id in edges.iter().flat_map(|(from, to, _)| [*from, *to]) {
            nodes.entry(id).or_insert_with(|| AdrNode { id, title: id.to_string(), status: None, file: None });
        }
        let mut circles = Vec::new();
        let mut within: BTreeSet<(AdrId, AdrId, Link)> = BTreeSet::new();
        for link in [Link::Supersedes, Link::DependsOn] {
            let links = Links::new(edges.iter().filter(|edge| edge.2 == link).map(|(from, to, _)| (*from, *to)));
            for group in links.circular_groups() {
                let members: BTreeSet<AdrId> = group.iter().copied().collect();
                within.extend(
                    group
                        .iter()
                        .flat_map(|from| links.next(*from).iter().map(|to| (*from, *to, link)))
                        .filter(|(_, to, _)| members.contains(to)),
                );
                if let Some(members) = links.way_round(&members) {
                    circles.push(Circle { link, members });
                }
            }
        }
        let edges = edges.into_iter().map(|edge| {
            let (from, to, link) = edge;
            AdrEdge { from, to, link, in_circle: within.contains(&edge) }
        });
        Self { nodes: nodes.into_values().collect(), edges: edges.collect(), circles }
    }

    /// What is wrong with the links: circles, and names of decisions that nobody wrote; in the files that say so.
    pub fn problems<'a>(&self, adrs: impl IntoIterator<Item = &'a Adr>) -> Vec<Diagnostic> {
        let mut circle_of: HashMap<(AdrId, Link), &Circle> = HashMap::new();
        for circle in &self.circles {
            // One place is enough for a circle: its first member says it.
            if let Some(first) = circle.members.first() {
                circle_of.insert((*first, circle.link), circle);
            }
        }
        let unwritten: BTreeSet<AdrId> =
            self.nodes.iter().filter(|node| node.file.is_none()).map(|node| node.id).collect();
        let mut problems = Vec::new();
        for adr in adrs {
            let Some(front) = &adr.front else { continue };
            let Some(id) = front.adr_id.as_ref() else { continue };
            let source = SourceText::new(&adr.file, &adr.source);
            let lists = [
                (Some(Link::Supersedes), &front.supersedes),
                (Some(Link::DependsOn), &front.depends_on),
                (None, &front.related_to),
                (None, &front.superseded_by),
            ];
            for (link, ids) in lists {
                let circle = link.and_then(|link| circle_of.get(&(id.value, link)));
                let next = circle.and_then(|circle| circle.members.get(1).or(circle.members.first()));
                for named in ids {
                    if unwritten.contains(&named.value) {
                        let message = format!("{} does not exist", named.value);
                        let help = "correct the number, or remove it; `helix adr list` lists all";
                        problems.push(source.warning(codes::UNKNOWN_ADR, named.range.clone(), message).help(help));
                    }
                    if let Some(circle) = circle.filter(|_| next == Some(&named.value)) {
                        let (code, message) = circle_text(circle);
                        let problem = match circle.link {
                            Link::Supersedes => source.error(code, named.range.clone(), message),
                            Link::DependsOn | Link::Related => source.warning(code, named.range.clone(), message),
                        };
                        problems.push(problem.help("remove one of these links"));
                    }
                }
            }
        }
        problems
    }

    /// The graph for Mermaid, as GitHub and Open WebUI draw it.
    pub fn to_mermaid(&self) -> String {
        let mut out = String::from("graph TD\n");
        let names = self.names();
        for node in &self.nodes {
            let label = mermaid_text(&format!("{}: {}", node.id, node.title));
            let status = node.status.map_or("does not exist", Status::word);
            out.push_str(&format!("    {}[\"{label}<br/>{status}\"]\n", names[&node.id]));
        }
        for edge in &self.edges {
            let arrow = match edge.link {
                Link::Supersedes => "==>",
                Link::DependsOn => "-->",
                Link::Related => "-.-",
            };
            let (from, to) = (&names[&edge.from], &names[&edge.to]);
            out.push_str(&format!("    {from} {arrow}|{}| {to}\n", edge.link.word()));
        }
        let circular = self.edges.iter().enumerate().filter(|(_, edge)| edge.in_circle);
        let numbers: Vec<String> = circular.map(|(number, _)| number.to_string()).collect();
        if !numbers.is_empty() {
            out.push_str(&format!("    linkStyle {} stroke:#c00,stroke-width:3px\n", numbers.join(",")));
        }
        for (class, look, applies) in
            [("gone", "opacity:0.5", Look::Gone), ("missing", "stroke:#c00,stroke-dasharray:4", Look::Missing)]
        {
            let members: Vec<&str> = self
                .nodes
                .iter()
                .filter(|node| Look::of(node) == applies)
                .filter_map(|node| names.get(&node.id).map(String::as_str))
                .collect();
            if !members.is_empty() {
                out.push_str(&format!("    classDef {class} {look}\n    class {} {class}\n", members.join(",")));
            }
        }
        out
    }

    /// The graph for Graphviz.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph adrs {\n    rankdir=TB;\n    node [shape=box];\n");
        let names = self.names();
        for node in &self.nodes {
            let status = node.status.map_or("does not exist", Status::word);
            let label = dot_text(&format!("{}: {}", node.id, node.title));
            let look = match Look::of(node) {
                Look::InForce => "",
                Look::Gone => ", style=dashed, fontcolor=gray40",
                Look::Missing => ", style=dotted, color=red",
            };
            out.push_str(&format!("    {} [label=\"{label}\\n{status}\"{look}];\n", names[&node.id]));
        }
        for edge in &self.edges {
            let style = match edge.link {
                Link::Supersedes => "style=bold",
                Link::DependsOn => "style=solid",
                Link::Related => "style=dotted, dir=none",
            };
            let circle = if edge.in_circle { ", color=red" } else { "" };
            let (from, to) = (&names[&edge.from], &names[&edge.to]);
            out.push_str(&format!("    {from} -> {to} [label=\"{}\", {style}{circle}];\n", edge.link.word()));
        }
        out.push_str("}\n");
        out
    }

    /// Names for drawings: they come from numbers, never from what people wrote.
    fn names(&self) -> BTreeMap<AdrId, String> {
        let name = |id: AdrId| match id {
            AdrId::Number(number) => format!("adr{number:03}"),
            AdrId::Draft => "draft".to_owned(),
        };
        self.nodes.iter().map(|node| (node.id, name(node.id))).collect()
    }
}

/// Code and message of a circle.
pub(super) fn circle_text(circle: &Circle) -> (&'static str, String) {
    match circle.link {
        Link::Supersedes => (codes::SUPERSEDE_CYCLE, format!("ADRs supersede each other in a circle: {circle}")),
        Link::DependsOn | Link::Related => {
            (codes::DEPENDENCY_CYCLE, format!("ADRs depend on each other in a circle: {circle}"))
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    InForce,
    Gone,
    Missing,
}

impl Look {
    fn of(node: &AdrNode) -> Self {
        match node.status {
            None => Self::Missing,
            Some(Status::Superseded | Status::Rejected | Status::Deprecated) => Self::Gone,
            Some(Status::Proposed | Status::Accepted | Status::Implemented) => Self::InForce,
        }
    }
}

/// Most characters of a label; the rest says nothing at that size.
const MAX_LABEL: usize = 80;

fn shortened(text: &str) -> String {
    let mut out: String = text.chars().take(MAX_LABEL).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(MAX_LABEL).is_some() {
        out.push('…');
    }
    out
}

/// A text inside a quoted label: whatever Mermaid or the browser could take for syntax becomes a character code.
fn mermaid_text(text: &str) -> String {
    let mut out = String::new();
    for character in shortened(text).chars() {
        match character {
            plain if plain.is_alphanumeric() || matches!(plain, ' ' | '-' | ':' | ',' | '.' | '…') => out.push(plain),
            other => out.push_str(&format!("#{};", u32::from(other))),
        }
    }
    out
}

fn dot_text(text: &str) -> String {
    let mut out = String::new();
    for character in shortened(text).chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            other => out.push(other),
        }
    }
    out
}

/// The links of one kind, for walking along them.
#[derive(Debug, Clone, Default)]
pub struct Links {
    next: BTreeMap<AdrId, Vec<AdrId>>,
}

impl Links {
    /// Reads pairs of from and to.
    pub fn new(pairs: impl IntoIterator<Item = (AdrId, AdrId)>) -> Self {
        let mut next: BTreeMap<AdrId, Vec<AdrId>> = BTreeMap::new();
        for (from, to) in pairs {
            next.entry(from).or_default().push(to);
        }
        Self { next }
    }

    /// Where a decision leads.
    pub fn next(&self, from: AdrId) -> &[AdrId] {
        self.next.get(&from).map_or(&[], Vec::as_slice)
    }

    /// Groups whose members all lead to each other, and decisions that lead to themselves. Tarjan's algorithm with a stack
    /// of its own, so that a long chain does not overflow the thread's.
    pub fn circular_groups(&self) -> Vec<Vec<AdrId>> {
        #[derive(Clone, Copy)]
        struct Seen {
            index: usize,
            low: usize,
            open: bool,
        }
        let mut seen: HashMap<AdrId, Seen> = HashMap::new();
        let mut stack: Vec<AdrId> = Vec::new();
        let mut groups = Vec::new();
        for root in self.next.keys() {
            if seen.contains_key(root) {
                continue;
            }
            let mut walk: Vec<(AdrId, usize)> = vec![(*root, 0)];
            while let Some((id, position)) = walk.pop() {
                if position == 0 {
                    let index = seen.len();
                    seen.insert(id, Seen { index, low: index, open: true });
                    stack.push(id);
                }
                if position > 0
                    && let Some(child) = self.next(id).get(position - 1).and_then(|child| seen.get(child)).copied()
                    && child.open
                    && let Some(own) = seen.get_mut(&id)
                {
                    own.low = own.low.min(child.low);
                }
                if let Some(child) = self.next(id).get(position) {
                    walk.push((id, position + 1));
                    if !seen.contains_key(child) {
                        walk.push((*child, 0));
                    }
                    continue;
                }
                let closed = seen.get(&id).is_some_and(|own| own.low == own.index);
                if closed {
                    let mut group = Vec::new();
                    while let Some(member) = stack.pop() {
                        if let Some(entry) = seen.get_mut(&member) {
                            entry.open = false;
                        }
                        group.push(member);
                        if member == id {
                            break;
                        }
                    }
                    if group.len() > 1 || self.next(id).contains(&id) {
                        group.sort_unstable();
                        groups.push(group);
                    }
                }
            }
        }
        groups.sort_unstable();
        groups
    }

    /// A shortest way from the first member of a circular group back to it.
    fn way_round(&self, members: &BTreeSet<AdrId>) -> Option<Vec<AdrId>> {
        let first = *members.first()?;
        let mut came_from: HashMap<AdrId, AdrId> = HashMap::new();
        let mut open = std::collections::VecDeque::from([first]);
        while let Some(id) = open.pop_front() {
            for next in self.next(id).iter().filter(|next| members.contains(next)) {
                if *next == first {
                    let mut way = vec![id];
                    let mut at = id;
                    while let Some(before) = came_from.get(&at) {
                        way.push(*before);
                        at = *before;
                    }
                    way.reverse();
                    return Some(way);
                }
                if *next != first && !came_from.contains_key(next) {
                    came_from.insert(*next, id);
                    open.push_back(*next);
                }
            }
        }
        None
    }
}

/// The way from a decision through its first link back to it, along links that `next` gives; each decision is visited once.
pub fn find_circle(own: AdrId, first: AdrId, next: impl Fn(AdrId) -> Vec<AdrId>) -> Option<Vec<AdrId>> {
    let mut path = vec![own];
    let mut seen = BTreeSet::new();
    let mut open: Vec<(AdrId, usize)> = vec![(first, 1)];
    while let Some((id, depth)) = open.pop() {
        path.truncate(depth);
        if id == own {
            return Some(path);
        }
        path.push(id);
        if seen.insert(id) {
            open.extend(next(id).into_iter().map(|next| (next, depth + 1)));
        }
    }
    None
}
