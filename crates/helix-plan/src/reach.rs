//! What leads to what in a graph, direct or not, such as phases to those they depend on: computed once, then asked as often as
//! needed.
//!
//! Must not know what the nodes stand for, phases aside.

use std::collections::{HashMap, VecDeque};

use helix_core::ids::PhaseId;

use super::model::{Phase, Plan};

/// A graph whose nodes are numbers, and what each of them leads to, direct or not.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    next: Vec<Vec<usize>>,
    reach: Reach,
}

impl Graph {
    /// The graph in which each node has edges to these.
    pub fn new(next: Vec<Vec<usize>>) -> Self {
        let reach = Reach::new(next.len(), |node| next[node].iter().copied());
        Self { next, reach }
    }

    /// Whether a node leads to another one, or to itself.
    pub fn reaches(&self, from: usize, to: usize) -> bool {
        self.reach.reaches(from, to)
    }

    /// The shortest way from a node through another one, to which an edge is assumed, back to it: the node once and first.
    pub fn circle(&self, own: usize, first: usize) -> Option<Vec<usize>> {
        if own != first && !self.reaches(first, own) {
            return None;
        }
        let mut came_from = HashMap::from([(first, own)]);
        let mut open = VecDeque::from([first]);
        while !came_from.contains_key(&own) {
            let node = open.pop_front()?;
            for to in self.next[node].iter().copied() {
                came_from.entry(to).or_insert_with(|| {
                    open.push_back(to);
                    node
                });
            }
        }
        let before = |node: &usize| came_from.get(node).copied().filter(|before| *before != own);
        let mut way: Vec<usize> = std::iter::successors(before(&own), before).chain([own]).collect();
        way.reverse();
        Some(way)
    }

    /// One circle of each group of nodes that all lead to each other, its first node first.
    pub fn circles(&self) -> Vec<Vec<usize>> {
        let mut seen = vec![false; self.next.len()];
        let mut circles = Vec::new();
        for own in 0..seen.len() {
            let is_in_group = |other: usize| self.reaches(own, other) && self.reaches(other, own);
            if seen[own] || !is_in_group(own) {
                continue;
            }
            seen.iter_mut().enumerate().for_each(|(other, seen)| *seen |= is_in_group(other));
            let first = self.next[own].iter().copied().find(|to| is_in_group(*to));
            circles.extend(first.and_then(|first| self.circle(own, first)));
        }
        circles
    }
}

/// For each node, the nodes that it reaches.
#[derive(Debug, Clone, Default)]
struct Reach {
    rows: Vec<Vec<u64>>,
}

impl Reach {
    /// Follows the edges of `next` from each of `count` nodes. Every edge is looked at a fixed number of times unless the graph
    /// has circles.
    fn new<I: Iterator<Item = usize>>(count: usize, next: impl Fn(usize) -> I) -> Self {
        let mut rows = vec![vec![0_u64; count.div_ceil(64)]; count];
        let order = post_order(count, &next);
        // Nodes come after those they reach, so one pass is enough without circles; the last pass changes nothing.
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for &node in &order {
                let mut row = std::mem::take(&mut rows[node]);
                for to in next(node) {
                    let before = row[to / 64];
                    row[to / 64] |= 1 << (to % 64);
                    changed |= before != row[to / 64];
                    for (word, other) in row.iter_mut().zip(&rows[to]) {
                        changed |= *word | other != *word;
                        *word |= other;
                    }
                }
                rows[node] = row;
            }
        }
        Self { rows }
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        self.rows[from][to / 64] >> (to % 64) & 1 == 1
    }
}

fn post_order<I: Iterator<Item = usize>>(count: usize, next: impl Fn(usize) -> I) -> Vec<usize> {
    let mut seen = vec![false; count];
    let mut order = Vec::with_capacity(count);
    for start in 0..count {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut path = vec![(start, next(start))];
        while let Some((node, edges)) = path.last_mut() {
            match edges.next() {
                Some(to) if !std::mem::replace(&mut seen[to], true) => path.push((to, next(to))),
                Some(_) => {}
                None => {
                    order.push(*node);
                    path.pop();
                }
            }
        }
    }
    order
}

/// Which phases of a plan come before which.
pub struct Ancestry<'p> {
    plan: &'p Plan,
    index: HashMap<&'p PhaseId, usize>,
    graph: Graph,
}

impl Plan {
    /// What comes before each phase, through `depends_on`, direct or not.
    pub fn ancestry(&self) -> Ancestry<'_> {
        let index: HashMap<_, _> = self.phases.iter().enumerate().map(|(at, phase)| (&phase.id, at)).collect();
        let needed = |phase: &Phase| phase.depends_on.iter().filter_map(|needed| index.get(needed).copied()).collect();
        let graph = Graph::new(self.phases.iter().map(needed).collect());
        Ancestry { plan: self, index, graph }
    }
}

impl<'p> Ancestry<'p> {
    /// Whether `later` depends on `earlier`, direct or not.
    pub fn is_before(&self, earlier: &PhaseId, later: &PhaseId) -> bool {
        match (self.index.get(earlier), self.index.get(later)) {
            (Some(earlier), Some(later)) => self.graph.reaches(*later, *earlier),
            _ => false,
        }
    }

    /// The phases that a phase depends on, direct or not, in the plan's order.
    pub fn before(&self, id: &PhaseId) -> impl Iterator<Item = &'p Phase> {
        let (phases, later) = (&self.plan.phases, self.index.get(id).copied());
        phases
            .iter()
            .enumerate()
            .filter(move |(at, _)| later.is_some_and(|later| self.graph.reaches(later, *at)))
            .map(|(_, phase)| phase)
    }
}

#[cfg(test)]
#[path = "reach_test.rs"]
mod tests;
