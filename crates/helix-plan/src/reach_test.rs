//! What graphs with and without cycles reach, and at what cost.

use std::cell::Cell;

use super::*;

/// A chain of 400 phases took 50 s to submit: every edge is looked at as often in a long chain as in a short one.
#[test]
fn the_work_grows_as_the_plan_does() {
    let steps = |count: usize| {
        let steps = Cell::new(0_usize);
        let reach = Reach::new(count, |at| at.checked_sub(1).into_iter().inspect(|_| steps.set(steps.get() + 1)));
        assert!(reach.reaches(count - 1, 0) && !reach.reaches(0, count - 1));
        steps.get()
    };
    assert!(steps(400) <= steps(100) * 5, "{} steps for 100 phases, {} for 400", steps(100), steps(400));
}

#[test]
fn cycles_reach_themselves() {
    // 0 → 1 → 2 → 0, and 3 → 0.
    let edges = [1, 2, 0, 0];
    let reach = Reach::new(4, |at| std::iter::once(edges[at]));
    let pairs = (0..4).flat_map(|from| (0..4).map(move |to| (from, to)));
    let reached: Vec<_> = pairs.filter(|(from, to)| reach.reaches(*from, *to)).collect();
    let expected: Vec<_> = (0..4).flat_map(|from| (0..3).map(move |to| (from, to))).collect();
    assert_eq!(reached, expected);
}
