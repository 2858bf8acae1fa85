//! What counts as the same, and as better.

use helix_core::evidence::TestCounts;

use super::*;

#[test]
fn lines_are_the_same_wherever_their_code_has_moved() {
    let before = Lines::of("a.py:3:10: E501 too long (90 > 79)\na.py:7:1: E501 too long (81 > 79)\nFound 2 errors\n");
    assert!(before.new_in("a.py:12:1: E501 too long (81 > 79)\nFound 1 error\n").contains(&"Found 1 error"));
    assert!(before.new_in("a.py:4:10: E501 too long (90 > 79)\na.py:18:1: E501 too long (99 > 79)\n\n").is_empty());
    let more = "a.py:4:1: E501 too long (9 > 7)\na.py:5:1: E501 too long (9 > 7)\na.py:6:1: E501 too long (9 > 7)\n";
    assert_eq!(before.new_in(more), ["a.py:6:1: E501 too long (9 > 7)"]);
    assert_eq!(before.new_in("b.py:3:10: E501 too long (90 > 79)"), ["b.py:3:10: E501 too long (90 > 79)"]);
}

#[test]
fn better_is_more_that_passes_or_a_good_end() {
    let tests = |code, passed, failed| {
        let counts = TestCounts { passed, failed, skipped: 0 };
        Baseline::of_tests(CommandEnd::Exited(code), Some(TestRun { counts, ..TestRun::default() }))
    };
    let none = Baseline::of_tests(CommandEnd::Exited(127), None);
    assert!(tests(0, 3, 0).is_better_than(&tests(1, 2, 1)) && tests(1, 2, 1).is_better_than(&none));
    assert!(!tests(1, 2, 1).is_better_than(&tests(1, 2, 1)) && !tests(1, 0, 3).is_better_than(&none));
    assert!(!tests(1, 3, 2).is_better_than(&tests(1, 2, 1)));
    // Where tests could not be loaded, more of them may fail once they are.
    assert!(tests(1, 3, 2).is_better_than(&tests(2, 0, 1)));
    let command = |code| Baseline::of_command(CommandEnd::Exited(code), "");
    assert!(command(0).is_better_than(&command(1)) && !command(0).is_better_than(&command(0)));
}
