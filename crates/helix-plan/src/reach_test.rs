//! What graphs with and without cycles reach, and at what cost.

use std::time::{Duration, Instant};

use super::*;

/// A chain of phases once took a minute, a ring of them still did later.
#[test]
fn the_work_grows_as_the_plan_does() {
    let count = 4_000_usize;
    let graphs = [0_usize, 1].map(|closed| {
        Graph::new(
            (0..count)
                .map(|at: usize| if at < closed { vec![count - 1] } else { at.checked_sub(1).into_iter().collect() })
                .collect(),
        )
    });
    let started = Instant::now();
    for (graph, is_ring) in graphs.iter().zip([false, true]) {
        let reach = Reach::new(graph);
        assert_eq!((reach.reaches(count - 1, 0), reach.reaches(0, count - 1)), (true, is_ring));
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn cycles_reach_themselves() {
    // 0 → 1 → 2 → 0, and 3 → 0.
    let reach = Reach::new(&Graph::new(vec![vec![1], vec![2], vec![0], vec![0]]));
    let pairs = (0..4).flat_map(|from| (0..4).map(move |to| (from, to)));
    let reached: Vec<_> = pairs.filter(|(from, to)| reach.reaches(*from, *to)).collect();
    let expected: Vec<_> = (0..4).flat_map(|from| (0..3).map(move |to| (from, to))).collect();
    assert_eq!(reached, expected);
}
