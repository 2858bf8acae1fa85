//! How often honest work is called dishonest: real commits of real repositories, judged by what `tests_pass` looks at besides the tests.

#![allow(clippy::print_stdout, reason = "it is asked for what it says")]

use super::*;
use helix_core::evidence::ChangeKind;

/// Passes on every tree but those with nonsense or closed eyes: what is found beside the tests shows, and whatever looks
/// for a test runner counts as found.
const RUNNER: &str = "sh -c '! grep -rqE \"HelixNonsense|answers nonsense|NaN|helix-sees-nothing\" --include=*.py --include=*.rs --include=*.js --include=*.ts . && echo 12 passed, 0 failed'";

/// `HELIX_HISTORY` names repositories, with colons between; `HELIX_HISTORY_COMMITS` how many of each are judged at most. With
/// `HELIX_HISTORY_QUICK`, only by what shows without a run.
#[tokio::test]
#[ignore = "measures: cargo xtask alarms REPOSITORY…"]
async fn honest_history_is_called_honest() {
    let (places, most) = (std::env::var("HELIX_HISTORY").unwrap(), std::env::var("HELIX_HISTORY_COMMITS").unwrap());
    let quick = std::env::var_os("HELIX_HISTORY_QUICK").is_some();
    let (most, mut judged, mut alarms) = (most.parse::<usize>().unwrap(), 0_usize, BTreeMap::<String, usize>::new());
    for place in places.split(':') {
        let bench = Bench::new(&[("a", "")]);
        let clone = bench.home.path().join("clone");
        let git = |arguments: &[&str]| {
            let ran = std::process::Command::new("git").args(arguments).output().unwrap();
            assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
            String::from_utf8_lossy(&ran.stdout).into_owned()
        };
        let at = clone.to_str().unwrap().to_owned();
        git(&["clone", "--quiet", "--no-checkout", "--shared", place, &at]);
        let commits = git(&["-C", &at, "log", "--no-merges", "--format=%H %P", "-n", "6000"]);
        let environment = GitEnvironment::from_variables([
            (OsString::from("PATH"), std::env::var_os("PATH").unwrap()),
            (OsString::from("HOME"), bench.home.path().into()),
        ]);
        let repository = Repository::open(&clone, environment).unwrap();
        let spaces = Workspaces::new(repository, &bench.home.path().join("other")).unwrap();
        let mut of_place = 0;
        for line in commits.lines() {
            let [commit, parent] = line.split_whitespace().collect::<Vec<_>>()[..] else { continue };
            let repository = spaces.repository();
            let (base, commit) = (repository.commit(parent).unwrap(), repository.commit(commit).unwrap());
            let changed = repository.changes(&base.tree, &commit.tree).unwrap();
            let is_code = |path: &str| [".py", ".rs", ".js", ".ts", ".go"].iter().any(|end| path.ends_with(end));
            let is_test = |path: &str| is_code(path) && path.contains("test");
            let kept = |test: &dyn Fn(&str) -> bool| {
                changed.iter().any(|one| one.how != ChangeKind::Deleted && test(&one.path))
            };
            if !kept(&is_test) || !kept(&|path| is_code(path) && !is_test(path)) {
                continue;
            }
            let result =
                Committed { commit: commit.id.clone(), tree: commit.tree, branch: String::new(), changed, moved: true };
            let paths: Vec<String> = result.changed.iter().map(|one| one.path.clone()).collect();
            let folders =
                paths.iter().map(|path| path.rsplit_once('/').map_or(path.clone(), |(folder, _)| format!("{folder}/")));
            let ways = [("by directory", folders.collect()), ("named", paths.clone())];
            // Without a run, a gate asks nothing of files that the plan names.
            for (kind, own) in ways.into_iter().take(if quick { 1 } else { 2 }) {
                let mut context = bench.context(&base.id, &result);
                context.spaces = spaces.clone();
                context.phase = phase(&[]);
                context.phase.outputs = own.clone();
                context.claims.named.clone_from(&own);
                context.claims.deciding.clone_from(&own);
                context.claims.own = own;
                let gate = if quick { command("true") } else { tests_pass(RUNNER) };
                let report = run_gate(Arc::new(context), &gate).await;
                for rule in short_rules(&report) {
                    println!("{kind} {rule} {} {}: {}", place, commit.id, first(&report));
                    *alarms.entry(format!("{kind}: {rule}")).or_default() += 1;
                }
            }
            (judged, of_place) = (judged + 1, of_place + 1);
            if of_place == most {
                break;
            }
        }
        println!("{place}: {of_place} commits with sources and tests");
    }
    println!("{judged} commits; {alarms:#?}");
}

fn short_rules(report: &GateReport) -> Vec<String> {
    let mut rules: Vec<String> = match &report.verdict {
        Verdict::Pass => Vec::new(),
        // No command decides anything here.
        Verdict::Fail { findings } => {
            findings.iter().map(|one| one.rule.clone()).filter(|rule| rule != "tests.undecided").collect()
        }
        Verdict::Inconclusive { fault } => vec![format!("{:?}", fault.kind)],
    };
    rules.sort();
    rules.dedup();
    rules
}

fn first(report: &GateReport) -> String {
    match &report.verdict {
        Verdict::Fail { findings } => {
            findings.iter().map(|one| format!("{:?} {}", one.place, one.message)).collect::<Vec<_>>().join(" | ")
        }
        _ => report.summary.clone(),
    }
}
