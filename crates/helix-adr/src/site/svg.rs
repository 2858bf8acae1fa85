//! The graph of decisions as a drawing: older ones to the left of what builds on them or replaces them.
//!
//! Must not know where pages are. Decisions without links are left out: the index has them.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt::Write as _;

use helix_core::text::one_line;

use super::page::html_text;
use crate::graph::{AdrGraph, Link};
use crate::words::{AdrId, Status};

/// Size of a box and the room between boxes.
const WIDTH: usize = 220;
const HEIGHT: usize = 48;
const BETWEEN: (usize, usize) = (70, 18);
const MARGIN: usize = 10;
/// Most characters of a title in a box.
const TITLE: usize = 30;

/// Draws the linked decisions; `target` has the page of each.
pub(super) fn drawing(graph: &AdrGraph, target: impl Fn(&AdrId) -> Option<String>) -> String {
    let places = places(graph);
    let end = |of: fn(&(usize, usize)) -> usize, size: usize, gap: usize| {
        places.values().map(of).max().map_or(0, |most| 2 * MARGIN + most * (size + gap) + size)
    };
    let (width, height) = (end(|place| place.0, WIDTH, BETWEEN.0), end(|place| place.1, HEIGHT, BETWEEN.1));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto-start-reverse\"><path d=\"M0 0 8 4 0 8z\"/></marker></defs>\n"
    );
    let corner = |id: &AdrId| {
        let (column, row) = places.get(id).copied().unwrap_or_default();
        (MARGIN + column * (WIDTH + BETWEEN.0), MARGIN + row * (HEIGHT + BETWEEN.1))
    };
    for edge in &graph.edges {
        let ((from_x, from_y), (to_x, to_y)) = (corner(&edge.from), corner(&edge.to));
        let (class, arrow) = match edge.link {
            Link::Supersedes => ("supersedes", " marker-end=\"url(#arrow)\""),
            Link::DependsOn => ("depends", " marker-end=\"url(#arrow)\""),
            Link::Related => ("related", ""),
        };
        let cycle = if edge.in_cycle { " cycle" } else { "" };
        // From the side that faces the other box; within a column, around it.
        let (start, end) = match from_x.cmp(&to_x) {
            std::cmp::Ordering::Greater => (from_x, to_x + WIDTH),
            std::cmp::Ordering::Less => (from_x + WIDTH, to_x),
            std::cmp::Ordering::Equal => (from_x + WIDTH, to_x + WIDTH),
        };
        let bend = match from_x.cmp(&to_x) {
            std::cmp::Ordering::Equal => start + BETWEEN.0 / 2,
            _ => start.midpoint(end),
        };
        let (from_y, to_y) = (from_y + HEIGHT / 2, to_y + HEIGHT / 2);
        let _written = writeln!(
            out,
            "<path class=\"{class}{cycle}\"{arrow} d=\"M{start} {from_y}C{bend} {from_y} {bend} {to_y} {end} {to_y}\"/>"
        );
    }
    for node in graph.nodes.iter().filter(|node| places.contains_key(&node.id)) {
        let (x, y) = corner(&node.id);
        let class = match node.status {
            None => "missing",
            Some(Status::Superseded | Status::Rejected | Status::Deprecated) => "gone",
            Some(Status::Proposed | Status::Accepted | Status::Implemented) => "force",
        };
        let (id, title) = (html_text(&super::shown(&node.id)), html_text(&one_line(&node.title, TITLE)));
        let boxed = format!(
            "<g class=\"{class}\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\"/><text x=\"{tx}\" y=\"{}\">{id}</text><text x=\"{tx}\" y=\"{}\">{title}</text></g>",
            html_text(&node.title),
            y + 19,
            y + 37,
            tx = x + 10,
        );
        let _written = match target(&node.id) {
            Some(page) => writeln!(out, "<a href=\"{}\">{boxed}</a>", html_text(&page)),
            None => writeln!(out, "{boxed}"),
        };
    }
    out.push_str("</svg>\n");
    out
}

/// Column and row of each linked decision: what is built on or replaced comes first. Links of a cycle have no such order.
fn places(graph: &AdrGraph) -> BTreeMap<&AdrId, (usize, usize)> {
    let linked: BTreeSet<&AdrId> = graph.edges.iter().flat_map(|edge| [&edge.from, &edge.to]).collect();
    let mut newer: HashMap<&AdrId, Vec<&AdrId>> = HashMap::new();
    let mut waits: HashMap<&AdrId, usize> = HashMap::new();
    for edge in graph.edges.iter().filter(|edge| !edge.in_cycle && edge.link != Link::Related) {
        newer.entry(&edge.to).or_default().push(&edge.from);
        *waits.entry(&edge.from).or_default() += 1;
    }
    let mut columns: BTreeMap<&AdrId, usize> = linked.iter().map(|id| (*id, 0)).collect();
    let mut ready: VecDeque<&AdrId> = linked.into_iter().filter(|id| !waits.contains_key(id)).collect();
    while let Some(id) = ready.pop_front() {
        let column = columns.get(id).copied().unwrap_or_default();
        for next in newer.get(id).into_iter().flatten() {
            if let Some(known) = columns.get_mut(next) {
                *known = (*known).max(column + 1);
            }
            if let Some(left) = waits.get_mut(next) {
                *left -= 1;
                if *left == 0 {
                    ready.push_back(next);
                }
            }
        }
    }
    let mut rows: HashMap<usize, usize> = HashMap::new();
    columns
        .into_iter()
        .map(|(id, column)| {
            let row = rows.entry(column).or_default();
            *row += 1;
            (id, (column, *row - 1))
        })
        .collect()
}
