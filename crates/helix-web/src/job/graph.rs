//! The phases of a job as a graph, from left to right, and as a list where there is no room. Must not know what a phase did.

use std::collections::BTreeMap;

use helix_core::ids::PhaseId;
use helix_core::text::clip;
use helix_job::PhaseView;
use helix_job::phrases::Sign;
use helix_language::{Language, say};
use maud::{Markup, html};

use super::detail::{JobDetail, Selected};
use super::head::version;
use crate::card;
use crate::sign::{class, shape, sign};

/// A box, and what is between two.
const BOX: (usize, usize) = (184, 48);
const GAP: (usize, usize) = (48, 16);
/// Letters of a name in a box.
const LETTERS: usize = 19;

/// A phase with its place: column and row.
struct Node<'a> {
    phase: &'a PhaseView,
    column: usize,
    row: usize,
}

impl Node<'_> {
    fn corner(&self) -> (usize, usize) {
        (1 + self.column * (BOX.0 + GAP.0), 1 + self.row * (BOX.1 + GAP.1))
    }
}

/// Each phase one column right of the last that it depends on; in a column in the plan's order.
fn placed(detail: &JobDetail) -> BTreeMap<&PhaseId, Node<'_>> {
    let mut columns: BTreeMap<&PhaseId, usize> = BTreeMap::new();
    // A plan has no circle: as many rounds as there are phases settle all, and one where each stands behind those that it depends on.
    for _ in 0..detail.phases.len() {
        let mut moved = false;
        for phase in &detail.phases {
            let column = phase.depends_on.iter().filter_map(|id| columns.get(id)).map(|column| column + 1).max();
            let column = column.unwrap_or_default();
            moved |= columns.insert(&phase.id, column) != Some(column);
        }
        if !moved {
            break;
        }
    }
    let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
    let mut nodes = BTreeMap::new();
    for phase in &detail.view.phases {
        let column = columns.get(&phase.id).copied().unwrap_or_default();
        let row = rows.entry(column).or_default();
        nodes.insert(&phase.id, Node { phase, column, row: *row });
        *row += 1;
    }
    nodes
}

pub(super) fn graph(language: Language, detail: &JobDetail, selected: &Selected<'_>) -> Markup {
    let nodes = placed(detail);
    let columns = nodes.values().map(|node| node.column + 1).max().unwrap_or_default();
    let rows = nodes.values().map(|node| node.row + 1).max().unwrap_or_default();
    let (width, height) = (
        columns * (BOX.0 + GAP.0) - GAP.0.min(columns * GAP.0) + 2,
        rows * (BOX.1 + GAP.1) + 2 - GAP.1.min(rows * GAP.1),
    );
    let is_selected = |phase: &PhaseView| selected.phase.is_some_and(|one| one.id == phase.id);
    let address = |phase: &PhaseView| format!("/jobs/{}?phase={}", detail.view.id, phase.id);
    html! {
        nav #graph.graph data-v=(version(detail)) aria-label=(say!(language, "web-phases")) {
            div.wide.scroll tabindex="0" {
                svg width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } {
                    @for phase in &detail.phases {
                        @for before in &phase.depends_on {
                            @if let (Some(from), Some(to)) = (nodes.get(before), nodes.get(&phase.id)) { (edge(from, to)) }
                        }
                    }
                    @for node in nodes.values() { (self::node(language, node, &address(node.phase), is_selected(node.phase))) }
                }
            }
            ol.slim {
                @for phase in &detail.view.phases {
                    li { a.open href=(address(phase)) aria-current=[is_selected(phase).then_some("true")] {
                        (sign(phase.status.into(), None)) span.title { (clip(&phase.name, 60)) } span.weak.right { (card::stage(language, phase)) }
                    } }
                }
            }
        }
    }
}

fn edge(from: &Node<'_>, to: &Node<'_>) -> Markup {
    let ((x1, y1), (x2, y2)) = (from.corner(), to.corner());
    let (x1, y1, x2, y2) = (x1 + BOX.0, y1 + BOX.1 / 2, x2, y2 + BOX.1 / 2);
    let middle = x1 + (x2 - x1.min(x2)) / 2;
    html! { path.edge d=(format!("M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}")) {} }
}

fn node(language: Language, node: &Node<'_>, address: &str, is_selected: bool) -> Markup {
    let ((x, y), phase) = (node.corner(), node.phase);
    let of = Sign::from(phase.status);
    let stage = card::stage(language, phase);
    let below = match phase.attempt {
        ..=1 => stage.clone(),
        number => format!("{stage} · {}", say!(language, "web-attempt", number = number)),
    };
    html! {
        a href=(address) aria-current=[is_selected.then_some("true")] {
            title { (phase.name) ": " (stage) }
            g class={ "node " (class(of)) } transform={ "translate(" (x) " " (y) ")" } {
                rect width=(BOX.0) height=(BOX.1) rx="8" {}
                g transform="translate(12 16)" { (shape(of)) }
                text x="38" y="20" { (clip(&phase.name, LETTERS)) }
                text.weak x="38" y="37" { (clip(&below, 25)) }
            }
        }
    }
}
