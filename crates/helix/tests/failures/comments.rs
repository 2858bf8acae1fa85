//! `helix jobs report --post`: one comment on the job's issue, through `gh` and `glab` that keep comments in files.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use super::reports::SCRIPT;
use crate::stage::Stage;
use crate::user::{Ran, ran};

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
/// Both programs in one: what they are called with and the comments they keep are files beside it.
const FAKE: &str = r#"#!/usr/bin/env python3
import json, os, re, signal, sys, time
from pathlib import Path

home = Path(__file__).resolve().parent
tool, arguments = Path(sys.argv[0]).name, sys.argv[1:]
text = sys.stdin.read()
with open(home / "calls", "a") as calls:
    calls.write(json.dumps([tool, *arguments]) + "\n")

def fail(said, code=1):
    print(f"{tool}: {said}", file=sys.stderr)
    sys.exit(code)

def flag(name, default=None):
    return arguments[arguments.index(name) + 1] if name in arguments else default

mode = (home / "mode").read_text() if (home / "mode").exists() else ""
hosts = (home / f"{tool}.hosts").read_text().split()
host = flag("--hostname")
if arguments[:2] == ["auth", "status"]:
    sys.exit(0 if host in hosts else 1)
if host not in hosts:
    if tool == "gh":
        fail("To get started with GitHub CLI, please run:  gh auth login", 4)
    fail("401 Unauthorized (HTTP 401)")
if mode == "broken":
    fail("403 locked, token ghp_0123456789abcdefghijABCDEFGHIJ012345 (HTTP 403)")
kept = home / "comments"
threads = json.loads(kept.read_text())
path, _, query = arguments[-1].partition("?")
method = flag("--method", "GET")
if method == "GET":
    if path not in threads:
        print('{"message":"Not Found"}')
        fail("Not Found (HTTP 404)")
    assert "--paginate" in arguments and "per_page=100" in query
    # glab prints one list for each page, gh one for all.
    size = 2 if tool == "glab" else 1000
    all = threads[path]
    for at in range(0, max(1, len(all)), size):
        print(json.dumps(all[at:at + size]), end="")
    sys.exit(0)
if flag("--header") != "Content-Type: application/json" or flag("--input") != "-":
    fail("400 Bad request (HTTP 400)")
body = json.loads(text)["body"]
if method == "POST":
    time.sleep(0.3)
    written = {"id": sum(len(one) for one in json.loads(kept.read_text()).values()) + 1, "body": body}
    threads = json.loads(kept.read_text())
    threads[path].append(written)
else:
    assert method == {"gh": "PATCH", "glab": "PUT"}[tool]
    number = int(path.rsplit("/", 1)[1])
    every = [(name, one) for name, thread in threads.items() for one in thread]
    name, written = next((name, one) for name, one in every if one["id"] == number)
    whole = re.sub(r"/\d+/comments$", "/comments", name) if tool == "gh" else name
    assert path == f"{whole}/{number}", path
    written["body"] = body
(home / "new").write_text(json.dumps(threads))
os.replace(home / "new", kept)
if mode == "die":
    os.kill(os.getppid(), signal.SIGKILL)
print(json.dumps(written))
"#;

/// A failed job, and programs that reach hosts of code.
struct World {
    stage: Stage,
    tools: PathBuf,
    job: String,
}

impl World {
    /// A job of a plan with these further lines, in a repository with this remote; threads are the paths that have comments.
    fn new(plan: &str, remote: &str, logged_in: [&str; 2], threads: &Value) -> Self {
        let mut stage = Stage::new(SCRIPT, "");
        let tools = stage.sandbox.path().join("tools");
        std::fs::create_dir(&tools).unwrap();
        std::fs::write(tools.join("gh"), FAKE).unwrap();
        std::fs::set_permissions(tools.join("gh"), std::fs::Permissions::from_mode(0o755)).unwrap();
        symlink("gh", tools.join("glab")).unwrap();
        for (tool, hosts) in ["gh", "glab"].into_iter().zip(logged_in) {
            std::fs::write(tools.join(format!("{tool}.hosts")), hosts).unwrap();
        }
        std::fs::write(tools.join("comments"), threads.to_string()).unwrap();
        let path = format!("{}:{}", tools.display(), stage.sandbox.environment()["PATH"]);
        stage.sandbox.set("PATH", path);
        if !remote.is_empty() {
            stage.git(&stage.repo, &["remote", "add", "origin", remote]);
        }
        let plan = stage.plan(
            "pages",
            &format!(
                "name: Pages {SECRET}\n{plan}phases:\n  - {{ id: a, name: The page, type: documentation, description: Write the page., outputs: [a.md], \
                 max_attempts: 1, on_failure: fail, gates: [{{ type: command, command: \"python3 -m {SECRET}\" }}] }}\n"
            ),
        );
        let mut world = Self { stage, tools, job: String::new() };
        let arguments =
            ["run", plan.to_str().unwrap(), "--project", world.stage.repo.to_str().unwrap()].map(String::from);
        let done = world.run(&arguments.each_ref().map(String::as_str));
        assert_eq!(done.code, 1, "{done:?}");
        world.job = world.run(&["jobs", "list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned();
        world
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.stage.helix(arguments).output().unwrap())
    }

    fn post(&self, more: &[&str]) -> Ran {
        self.run(&[&["jobs", "report", &self.job, "--post"], more].concat())
    }

    fn comments(&self, thread: &str) -> Vec<String> {
        let all: Value = serde_json::from_slice(&std::fs::read(self.tools.join("comments")).unwrap()).unwrap();
        let bodies = all[thread].as_array().unwrap().iter().map(|one| one["body"].as_str().unwrap().to_owned());
        bodies.collect()
    }

    /// What the programs were called with since the last look, without what is the same for all writes.
    fn calls(&self) -> Vec<String> {
        let path = self.tools.join("calls");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let _absent = std::fs::remove_file(path);
        let line = |line: &str| serde_json::from_str::<Vec<String>>(line).unwrap().join(" ");
        text.lines()
            .map(line)
            .map(|line| line.replace(" --header Content-Type: application/json --input -", ""))
            .collect()
    }
}

const THREAD: &str = "repos/octo/shop/issues/17/comments";

#[test]
fn one_comment_is_posted_and_later_updated() {
    let world = World::new(
        "issue: 17\n",
        "https://me:pw@github.com/octo/shop.git",
        ["github.com", ""],
        &json!({ THREAD: [{ "id": 1, "body": "Please add pages" }] }),
    );
    let marker = format!("<!-- helix-job: {} -->", world.job);
    let shown = world.run(&["jobs", "show", &world.job]);
    assert!(shown.stdout.contains("\nissue    #17\n"), "{shown:?}");
    let shown = world.run(&["jobs", "show", &world.job, "--json"]).json();
    assert_eq!(
        (&shown["issue"], &shown["reports"][0]["report"]["what_failed"]["place"]["issue"]),
        (&json!(17), &json!("#17")),
        "{shown:#}"
    );

    let tried = world.post(&["--dry-run"]);
    assert_eq!((tried.code, world.calls().len()), (0, 0), "{tried:?}");
    assert!(tried.stderr.contains("https://github.com/octo/shop/issues/17; nothing was posted"), "{tried:?}");

    let posted = world.post(&[]);
    assert_eq!(posted.stdout, "posted https://github.com/octo/shop/issues/17#issuecomment-2\n", "{posted:?}");
    let get = format!("gh api --hostname github.com --paginate {THREAD}?per_page=100");
    assert_eq!(world.calls(), [get.clone(), format!("gh api --hostname github.com --method POST {THREAD}")]);
    let text = world.comments(THREAD).pop().unwrap();
    assert_eq!(text.trim_end(), tried.stdout.trim_end());
    assert!(text.starts_with(&format!("{marker}\n## Helix: `Pages [secret]` ✗ failed\n")), "{text}");
    for part in [
        "- **For:** #17\n",
        "attempt 1, ✓ `outputs_claimed`, ✗ `command`\n",
        "## a, attempt 1\n",
        "- **issue:** `#17`\n",
        "### Suggested actions\n",
    ] {
        assert!(text.contains(part), "{part:?}: {text}");
    }
    assert!(
        !text.contains(SECRET) && !text.to_lowercase().contains("closes") && !text.to_lowercase().contains("fixes #"),
        "{text}"
    );

    // Somebody quotes it, and somebody else's copy of it stands within a text.
    let mut all: Value = serde_json::from_slice(&std::fs::read(world.tools.join("comments")).unwrap()).unwrap();
    all[THREAD].as_array_mut().unwrap().insert(0, json!({ "id": 90, "body": format!("> {marker}\nseen\n{marker}") }));
    std::fs::write(world.tools.join("comments"), all.to_string()).unwrap();
    let updated = world.post(&["--json"]).json();
    let expected =
        json!({ "job": world.job, "url": "https://github.com/octo/shop/issues/17#issuecomment-2", "updated": true });
    assert_eq!(updated, expected);
    assert_eq!(
        world.calls(),
        [get, "gh api --hostname github.com --method PATCH repos/octo/shop/issues/comments/2".into()]
    );
    assert_eq!(world.comments(THREAD).len(), 3);
}

#[test]
fn death_after_posting_and_two_at_once_leave_one_comment() {
    let other = "repos/octo/shop/issues/18/comments";
    let world = World::new(
        "issue: https://github.com/octo/shop/pull/17\n",
        "",
        ["github.com", ""],
        &json!({ THREAD: [], other: [] }),
    );
    std::fs::write(world.tools.join("mode"), "die").unwrap();
    assert_eq!(world.post(&[]).code, -1, "killed");
    assert_eq!(world.comments(THREAD).len(), 1);
    std::fs::remove_file(world.tools.join("mode")).unwrap();
    assert!(world.post(&[]).stdout.starts_with("updated https://github.com/octo/shop/pull/17#issuecomment-1"));
    assert_eq!(world.comments(THREAD).len(), 1);

    let arguments = ["jobs", "report", &world.job, "--post", "--issue", "https://github.com/octo/shop/issues/18"];
    let start = || world.stage.helix(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let both = [start(), start()].map(|one| ran(one.wait_with_output().unwrap()));
    assert!(both.iter().all(|one| one.code == 0), "{both:?}");
    assert_eq!(world.comments(other).len(), 1, "{both:?}");
}

#[test]
fn a_gitlab_of_ones_own_is_found_by_who_is_logged_in_there() {
    let notes = "projects/shop%2Fweb%2Fapp/issues/17/notes";
    let others = "projects/shop%2Fweb%2Fapp/merge_requests/5/notes";
    let before = ["a", "b", "c"].map(|body| json!({ "id": 1, "body": body }));
    let world = World::new(
        "issue: 17\n",
        "ssh://git@git.corp.example:2222/shop/web/app.git",
        ["github.com", "git.corp.example"],
        &json!({ notes: before, others: [] }),
    );
    let posted = world.post(&[]);
    assert_eq!(posted.stdout, "posted https://git.corp.example/shop/web/app/-/issues/17#note_4\n", "{posted:?}");
    let asked = ["gh", "glab"].map(|tool| format!("{tool} auth status --hostname git.corp.example"));
    let get =
        format!("glab api --hostname git.corp.example --paginate {notes}?per_page=100&sort=asc&order_by=created_at");
    let [gh, glab] = &asked;
    let write = |method: &str, path: &str| format!("glab api --hostname git.corp.example --method {method} {path}");
    assert_eq!(world.calls(), [gh, glab, &get, &write("POST", notes)].map(String::clone));
    let again = world.post(&[]);
    assert_eq!(again.stdout, "updated https://git.corp.example/shop/web/app/-/issues/17#note_4\n", "{again:?}");
    assert_eq!(world.calls(), [gh, glab, &get, &write("PUT", &format!("{notes}/4"))].map(String::clone));
    let request = world.post(&["--issue", "https://git.corp.example/shop/web/app/-/merge_requests/5"]);
    assert!(request.stdout.contains("/-/merge_requests/5#note_"), "{request:?}");
    assert_eq!(world.comments(others).len(), 1);
}

/// Log-ins may go to any host that is asked: which ones are asked is not for a file of the repository to say.
#[test]
fn a_plan_does_not_choose_the_host_that_a_report_goes_to() {
    let url = "https://collector.example/a/b/pull/1";
    let world =
        World::new(&format!("issue: {url}\n"), "git@github.com:octo/shop.git", ["collector.example", ""], &json!({}));
    world.post(&[]).refused(2, &["HX0942", "at collector.example, which no remote", &format!("--issue {url}")]);
    assert_eq!(world.calls(), Vec::<String>::new());
    world.post(&["--issue", url]).refused(2, &["HX0943"]);
    assert!(world.calls()[0].starts_with("gh api --hostname collector.example"));
}

#[test]
fn what_keeps_a_comment_from_being_posted_is_named_with_its_remedy() {
    let world = World::new("", "", ["github.com", ""], &json!({ THREAD: [] }));
    let url = "https://github.com/octo/shop/issues/17";
    world.post(&[]).refused(2, &["HX0941", "names no issue", "--issue"]);
    world.post(&["--issue", "17"]).refused(4, &["HX0942", "has no remote", "--issue"]);
    world.post(&["--issue", "x"]).refused(2, &["the number of an issue, such as 17, or the URL"]);
    world.run(&["jobs", "report", &world.job, "--dry-run"]).refused(2, &["--post"]);
    world.stage.git(&world.stage.repo, &["remote", "add", "origin", "/srv/git/shop.git"]);
    world.post(&["--issue", "17"]).refused(4, &["HX0942", "the remote origin", "names no project on GitHub or GitLab"]);
    world.stage.git(&world.stage.repo, &["remote", "set-url", "origin", "git@code.example:octo/shop.git"]);
    let neither = world.post(&["--issue", "17"]);
    neither.refused(
        4,
        &["HX0942", "neither gh nor glab is logged in to code.example", "glab auth login --hostname code.example"],
    );
    world
        .post(&["--issue", "https://github.com/octo/shop/issues/404"])
        .refused(2, &["HX0943", "there is no https://github.com/octo/shop/issues/404", "Not Found (HTTP 404)"]);
    world
        .post(&["--issue", "https://gitlab.com/a/b/-/issues/1"])
        .refused(4, &["HX0942", "glab is not logged in to gitlab.com", "glab auth login --hostname gitlab.com"]);
    std::fs::write(world.tools.join("mode"), "broken").unwrap();
    let broken = world.post(&["--issue", url]);
    broken.refused(4, &["HX0943", "403 locked, token [secret]", "updated, not repeated"]);
    std::fs::write(world.tools.join("gh.hosts"), "").unwrap();
    world
        .post(&["--issue", url])
        .refused(4, &["HX0942", "gh is not logged in to github.com", "gh auth login --hostname"]);
    let empty = world.stage.sandbox.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let arguments = ["jobs", "report", &world.job, "--post", "--issue", url];
    let alone = ran(world.stage.helix(&arguments).env("PATH", &empty).output().unwrap());
    alone.refused(4, &["HX0942", "gh, which posts to github.com, is not installed", "https://cli.github.com"]);
    assert!(world.comments(THREAD).is_empty());

    // Without posting it is for the terminal and programs.
    let printed = world.run(&["jobs", "report", &world.job, "--json"]).json();
    assert_eq!((&printed["job"], &printed["issue"]), (&json!(world.job), &json!(null)));
    assert!(printed["markdown"].as_str().unwrap().contains("## a, attempt 1\n"));
}
