//! How decisions hang together: what supersedes, builds on and touches what, and where they run in cycles.
//!
//! Must not know a disk or a terminal. Titles are data and cannot break out of a drawing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use helix_core::text::one_line;
use helix_plan::Graph;

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
    /// Its state; absent for a decision that others name and that does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Its file; absent as the state is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// A link in the graph.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct AdrEdge {
    /// Who has the link.
    pub from: AdrId,
    /// Whom it names.
    pub to: AdrId,
    /// What links them.
    pub link: Link,
    /// Whether it is part of a cycle.
    pub in_cycle: bool,
}

/// All decisions and their links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdrGraph {
    /// In the order of their ids.
    pub nodes: Vec<AdrNode>,
    /// In the order of their ends.
    pub edges: Vec<AdrEdge>,
    /// Each cycle by its members, `Supersedes` and `DependsOn` by themselves.
    pub cycles: Vec<Cycle>,
}

/// Most members of a cycle that a message names.
const SHOWN_MEMBERS: usize = 12;

/// Decisions that lead back to themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cycle {
    /// By which link.
    pub link: Link,
    /// The way round, its first member once.
    pub members: Vec<AdrId>,
}

impl std::fmt::Display for Cycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&way_round(&self.members, 0))
    }
}

/// A cycle in words, beginning with the member at this place. Costs no more than what is shown.
fn way_round(members: &[AdrId], place: usize) -> String {
    let shown = members.iter().cycle().skip(place).take(members.len().min(SHOWN_MEMBERS));
    let mut names: Vec<String> = shown.map(AdrId::to_string).collect();
    if members.len() > SHOWN_MEMBERS {
        names.push(format!("{} more", members.len() - SHOWN_MEMBERS));
    }
    names.extend(names.first().cloned());
    names.join(" → ")
}

impl AdrGraph {
    /// Reads the links of many ADRs. Drafts are left out: nothing can name them.
    pub fn new<'a>(adrs: impl IntoIterator<Item = &'a Adr>) -> Self {
        let mut nodes: BTreeMap<AdrId, AdrNode> = BTreeMap::new();
        let mut edges: BTreeSet<(AdrId, AdrId, Link)> = BTreeSet::new();
        for adr in adrs {
            let (Some(front), Some(id)) = (&adr.front, adr.decided_id()) else { continue };
            let (title, status, file) = (adr.title().to_owned(), adr.status(), Some(adr.file.clone()));
            nodes.entry(id.clone()).or_insert(AdrNode { id: id.clone(), title, status, file });
            let mut link = |from: &AdrId, to: &AdrId, link| edges.insert((from.clone(), to.clone(), link));
            for other in &front.supersedes {
                link(&id, &other.value, Link::Supersedes);
            }
            // Said by either side, it is one link.
            for other in &front.superseded_by {
                link(&other.value, &id, Link::Supersedes);
            }
            for other in &front.depends_on {
                link(&id, &other.value, Link::DependsOn);
            }
            for other in front.related_to.iter().filter(|other| other.value != id) {
                link((&id).min(&other.value), (&id).max(&other.value), Link::Related);
            }
        }
        edges.retain(|(from, to, _)| *from != AdrId::Draft && *to != AdrId::Draft);
        for id in edges.iter().flat_map(|(from, to, _)| [from, to]) {
            let nobody = || AdrNode { id: id.clone(), title: id.to_string(), status: None, file: None };
            nodes.entry(id.clone()).or_insert_with(nobody);
        }
        let mut cycles = Vec::new();
        let mut of_kind = BTreeMap::new();
        for link in [Link::Supersedes, Link::DependsOn] {
            let of_link = edges.iter().filter(|edge| edge.2 == link).map(|edge| (edge.0.clone(), edge.1.clone()));
            let links = Links::new(&of_link.collect());
            cycles.extend(links.cycles.iter().map(|members| Cycle { link, members: members.clone() }));
            of_kind.insert(link, links);
        }
        let edges = edges.into_iter().map(|(from, to, link)| {
            let in_cycle = of_kind.get(&link).is_some_and(|links: &Links| links.lead_back(&from, &to));
            AdrEdge { from, to, link, in_cycle }
        });
        Self { nodes: nodes.into_values().collect(), edges: edges.collect(), cycles }
    }

    /// The graph for Mermaid, as GitHub and Open WebUI draw it.
    pub fn to_mermaid(&self) -> String {
        let mut out = String::from("graph TD\n");
        for node in &self.nodes {
            let label = mermaid_text(&format!("{}: {}", node.id, node.title));
            let status = node.status.map_or("does not exist", Status::word);
            out.push_str(&format!("    {}[\"{label}<br/>{status}\"]\n", name(&node.id)));
        }
        for edge in &self.edges {
            let arrow = match edge.link {
                Link::Supersedes => "==>",
                Link::DependsOn => "-->",
                Link::Related => "-.-",
            };
            let (from, to) = (name(&edge.from), name(&edge.to));
            out.push_str(&format!("    {from} {arrow}|{}| {to}\n", edge.link.word()));
        }
        let circular = self.edges.iter().enumerate().filter(|(_, edge)| edge.in_cycle);
        let numbers: Vec<String> = circular.map(|(number, _)| number.to_string()).collect();
        if !numbers.is_empty() {
            out.push_str(&format!("    linkStyle {} stroke:#c00,stroke-width:3px\n", numbers.join(",")));
        }
        for (class, look, applies) in
            [("gone", "opacity:0.5", Look::Gone), ("missing", "stroke:#c00,stroke-dasharray:4", Look::Missing)]
        {
            let members = self.nodes.iter().filter(|node| Look::from_node(node) == applies);
            let members: Vec<String> = members.map(|node| name(&node.id)).collect();
            if !members.is_empty() {
                out.push_str(&format!("    classDef {class} {look}\n    class {} {class}\n", members.join(",")));
            }
        }
        out
    }

    /// The graph for Graphviz.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph adrs {\n    rankdir=TB;\n    node [shape=box];\n");
        for node in &self.nodes {
            let status = node.status.map_or("does not exist", Status::word);
            let label = one_line(&format!("{}: {}", node.id, node.title), MAX_LABEL);
            let label = label.replace('\\', "\\\\").replace('"', "\\\"");
            let look = match Look::from_node(node) {
                Look::InForce => "",
                Look::Gone => ", style=dashed, fontcolor=gray40",
                Look::Missing => ", style=dotted, color=red",
            };
            out.push_str(&format!("    {} [label=\"{label}\\n{status}\"{look}];\n", name(&node.id)));
        }
        for edge in &self.edges {
            let style = match edge.link {
                Link::Supersedes => "style=bold",
                Link::DependsOn => "style=solid",
                Link::Related => "style=dotted, dir=none",
            };
            let cycle = if edge.in_cycle { ", color=red" } else { "" };
            let (from, to) = (name(&edge.from), name(&edge.to));
            out.push_str(&format!("    {from} -> {to} [label=\"{}\", {style}{cycle}];\n", edge.link.word()));
        }
        out.push_str("}\n");
        out
    }
}

/// The name of a decision in drawings: letters, digits and `_`, whatever people wrote.
pub(super) fn name(id: &AdrId) -> String {
    match id {
        AdrId::Number(number) => format!("adr{number:03}"),
        AdrId::Draft => "draft".to_owned(),
        AdrId::Named(name) => {
            let mut out = String::from("adr");
            for character in name.chars() {
                match character {
                    plain if plain.is_ascii_alphanumeric() => out.push(plain),
                    '-' => out.push('_'),
                    other => out.push_str(&format!("_{:x}_", u32::from(other))),
                }
            }
            out
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
    fn from_node(node: &AdrNode) -> Self {
        match node.status {
            None => Self::Missing,
            Some(Status::Superseded | Status::Rejected | Status::Deprecated) => Self::Gone,
            Some(Status::Proposed | Status::Accepted | Status::Implemented) => Self::InForce,
        }
    }
}

/// Most characters of a label; the rest says nothing at that size.
const MAX_LABEL: usize = 81;

/// A text inside a quoted label: whatever Mermaid or the browser could take for syntax becomes a character code.
fn mermaid_text(text: &str) -> String {
    let mut out = String::new();
    for character in one_line(text, MAX_LABEL).chars() {
        match character {
            plain if plain.is_alphanumeric() || matches!(plain, ' ' | '-' | ':' | ',' | '.' | '…') => out.push(plain),
            other => out.push_str(&format!("#{};", u32::from(other))),
        }
    }
    out
}

/// The links of one kind, and the cycles along them.
#[derive(Debug, Clone, Default)]
pub(super) struct Links {
    /// In order; each has its number in the graph.
    ids: Vec<AdrId>,
    graph: Graph,
    /// One of each group of decisions that all lead to each other.
    cycles: Vec<Vec<AdrId>>,
    /// Where in these cycles a decision stands: which one, and at which place.
    places: HashMap<AdrId, (usize, usize)>,
}

impl Links {
    /// Reads pairs of from and to.
    pub(super) fn new(pairs: &BTreeSet<(AdrId, AdrId)>) -> Self {
        let ids: BTreeSet<AdrId> = pairs.iter().flat_map(|(from, to)| [from.clone(), to.clone()]).collect();
        let mut links = Self { ids: ids.into_iter().collect(), ..Self::default() };
        let mut next = vec![Vec::new(); links.ids.len()];
        for (from, to) in pairs.iter().filter_map(|(from, to)| links.numbers(from, to)) {
            next[from].push(to);
        }
        links.graph = Graph::new(next);
        links.cycles = links.graph.cycles().into_iter().map(|way| links.named(way)).collect();
        let places = links.cycles.iter().enumerate().flat_map(|(number, members)| {
            members.iter().enumerate().map(move |(place, id)| (id.clone(), (number, place)))
        });
        links.places = places.collect();
        links
    }

    fn numbers(&self, one: &AdrId, other: &AdrId) -> Option<(usize, usize)> {
        Some((self.ids.binary_search(one).ok()?, self.ids.binary_search(other).ok()?))
    }

    fn named(&self, numbers: Vec<usize>) -> Vec<AdrId> {
        numbers.into_iter().filter_map(|number| self.ids.get(number).cloned()).collect()
    }

    /// Whether the link from a decision to another one is part of a cycle.
    fn lead_back(&self, from: &AdrId, to: &AdrId) -> bool {
        self.numbers(from, to).is_some_and(|(from, to)| self.graph.are_together(from, to))
    }

    /// The way from a decision through one that it names back to it, in words.
    pub(super) fn cycle(&self, own: &AdrId, first: &AdrId) -> Option<String> {
        if own == first {
            return Some(way_round(std::slice::from_ref(own), 0));
        }
        // That of one large cycle is the same for all its members: finding it anew for each of them would be quadratic.
        if let Some((members, place)) = self.places.get(own).map(|(number, place)| (&self.cycles[*number], *place))
            && members[(place + 1) % members.len()] == *first
        {
            return Some(way_round(members, place));
        }
        let (own, first) = self.numbers(own, first)?;
        self.graph.cycle(own, first).map(|way| way_round(&self.named(way), 0))
    }
}
