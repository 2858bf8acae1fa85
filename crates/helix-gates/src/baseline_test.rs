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

/// A command that fails, and tells how often it has run.
struct Fails(std::sync::atomic::AtomicU32);

impl Measured for Fails {
    async fn measure(&self, _: &CommitId, _: &str, _: &[String]) -> Result<Measure, Trouble> {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let baseline = Baseline::of_command(CommandEnd::Exited(1), "refused");
        Ok(Measure { baseline, fault: None, output: Some("refused".to_owned()) })
    }
}

/// Whoever is interrupted while they look, or finds something, has kept nothing: the next one looks again.
#[test]
fn a_run_is_kept_once_its_surroundings_were_looked_at() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache { directory: directory.path().to_owned(), command: "a".to_owned() };
        let (commit, tree) = (CommitId::new("1".repeat(40)).unwrap(), TreeId::new("2".repeat(40)).unwrap());
        let command = Fails(std::sync::atomic::AtomicU32::new(0));
        let at = (&commit, &tree);
        let broken = async |_: &Measure| Err(Trouble::Cancelled);
        assert!(cache.measured_unless(&command, at, "", broken).await.is_err());
        let lacks = async |_: &Measure| Ok(Some(Fault::environment("nobody listens")));
        assert!(cache.measured_unless(&command, at, "", lacks).await.unwrap().is_err());
        assert!(cache.load(&tree).await.is_none());
        assert!(cache.measured(&command, at, "").await.is_ok() && cache.measured(&command, at, "").await.is_ok());
        assert_eq!(command.0.into_inner(), 3);
    });
}
