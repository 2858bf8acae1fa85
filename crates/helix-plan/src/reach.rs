//! What leads to what in a graph, direct or not, such as phases to those they depend on: computed once, then asked as often as
//! needed.
//!
//! Must not know what the nodes stand for, phases aside.

use std::collections::{HashMap, HashSet, VecDeque};

use helix_core::ids::PhaseId;

use super::model::{Phase, Plan};

/// A graph whose nodes are numbers, and the cycles in it. Takes memory for its nodes and edges, no more.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    next: Vec<Vec<usize>>,
    /// For each node its group, by one node of it: nodes of one group all lead to each other.
    groups: Vec<usize>,
}

impl Graph {
    /// The graph in which each node has edges to these.
    pub fn new(next: Vec<Vec<usize>>) -> Self {
        let mut before = vec![Vec::new(); next.len()];
        for (from, edges) in next.iter().enumerate() {
            edges.iter().for_each(|to| before[*to].push(from));
        }
        // Kosaraju's algorithm: who leads to the last node of the order, and is in no group yet, is in a group with it.
        let order = post_order(next.len(), |node| next[node].iter().copied());
        let mut groups = vec![None; next.len()];
        for root in order.into_iter().rev() {
            let mut open = vec![root];
            while let Some(node) = open.pop() {
                if groups[node].is_none() {
                    groups[node] = Some(root);
                    open.extend(&before[node]);
                }
            }
        }
        Self { next, groups: groups.into_iter().flatten().collect() }
    }

    /// Whether two nodes lead to each other, or are one.
    pub fn are_together(&self, one: usize, other: usize) -> bool {
        self.groups[one] == self.groups[other]
    }

    /// The shortest way from a node through another one, to which an edge is assumed, back to it: the node once and first.
    pub fn cycle(&self, own: usize, first: usize) -> Option<Vec<usize>> {
        if !self.are_together(own, first) && self.next[own].contains(&first) {
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

    /// One cycle of each group of nodes that all lead to each other, its first node first.
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        let mut seen = HashSet::new();
        let of_group = (0..self.next.len()).filter_map(|own| {
            let first = self.next[own].iter().copied().find(|to| self.are_together(own, *to))?;
            if seen.insert(self.groups[own]) { self.cycle(own, first) } else { None }
        });
        of_group.collect()
    }
}

/// For each node, the nodes that it reaches.
pub(super) struct Reach {
    groups: Vec<usize>,
    /// One for each group, at the number of the node that it is called by.
    rows: Vec<Vec<u64>>,
}

impl Reach {
    /// Every edge is looked at once.
    pub(super) fn new(graph: &Graph) -> Self {
        let (count, groups) = (graph.next.len(), graph.groups.clone());
        let mut members = vec![Vec::new(); count];
        for (node, group) in groups.iter().enumerate() {
            members[*group].push(node);
        }
        let mut rows = vec![Vec::new(); count];
        // A group is called by its last node in this order: what it leads to has come before.
        for own in post_order(count, |node| graph.next[node].iter().copied()) {
            if members[own].is_empty() {
                continue;
            }
            let mut row = vec![0_u64; count.div_ceil(64)];
            for to in members[own].iter().flat_map(|node| &graph.next[*node]) {
                row[to / 64] |= 1 << (to % 64);
                row.iter_mut().zip(&rows[groups[*to]]).for_each(|(word, other)| *word |= other);
            }
            rows[own] = row;
        }
        Self { groups, rows }
    }

    pub(super) fn reaches(&self, from: usize, to: usize) -> bool {
        self.rows[self.groups[from]][to / 64] >> (to % 64) & 1 == 1
    }
}

/// The nodes, each after those that it leads to unless they lead back to it.
pub(super) fn post_order<I: Iterator<Item = usize>>(count: usize, next: impl Fn(usize) -> I) -> Vec<usize> {
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
    reach: Reach,
}

impl Plan {
    /// What comes before each phase, through `depends_on`, direct or not.
    pub fn ancestry(&self) -> Ancestry<'_> {
        let index = self.phases.iter().enumerate().map(|(at, phase)| (&phase.id, at)).collect();
        Ancestry { plan: self, index, reach: Reach::new(&Graph::new(self.needed())) }
    }

    /// Where the phases stand that each phase depends on; one that is not in the plan (a workflow's) is left out.
    pub(super) fn needed(&self) -> Vec<Vec<usize>> {
        let index: HashMap<_, _> = self.phases.iter().enumerate().map(|(at, phase)| (&phase.id, at)).collect();
        let needed = |phase: &Phase| phase.depends_on.iter().filter_map(|needed| index.get(needed).copied()).collect();
        self.phases.iter().map(needed).collect()
    }
}

impl<'p> Ancestry<'p> {
    /// Whether `later` depends on `earlier`, direct or not.
    pub fn is_before(&self, earlier: &PhaseId, later: &PhaseId) -> bool {
        match (self.index.get(earlier), self.index.get(later)) {
            (Some(earlier), Some(later)) => self.reach.reaches(*later, *earlier),
            _ => false,
        }
    }

    /// The phases that a phase depends on, direct or not, in the plan's order.
    pub fn before(&self, id: &PhaseId) -> impl Iterator<Item = &'p Phase> {
        let (phases, later) = (&self.plan.phases, self.index.get(id).copied());
        phases
            .iter()
            .enumerate()
            .filter(move |(at, _)| later.is_some_and(|later| self.reach.reaches(later, *at)))
            .map(|(_, phase)| phase)
    }
}

#[cfg(test)]
#[path = "reach_test.rs"]
mod tests;
