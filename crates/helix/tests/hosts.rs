//! Hosts and jobs from outside: one host for each state directory, work beside the user's, coming back.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::process::{Child, Stdio};
use std::sync::mpsc;

use crate::user::User;
use serde_json::json;

const PLAN: &str = "name: p\nphases:\n  - id: a\n    name: A\n    type: development\n    description: do it\n    outputs: [a.txt]\n    gates: [{ type: files_exist }]\n";

const HANGING: &str = "- {key: a, repeat: true, actions: [{say: waiting}], end: hang}\n";

/// A host that ends with the test, and its address.
struct Served(Child, String);

impl Served {
    /// Returns once the host can be reached.
    fn start(user: &User) -> Self {
        Self::start_in(user, ".")
    }

    fn start_in(user: &User, directory: &str) -> Self {
        let mut child = user
            .helix()
            .current_dir(user.work().join(directory))
            .args(["--json", "serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (_, address) = line.split_once("http://").unwrap_or_else(|| panic!("{line}"));
        let address = address.split('"').next().unwrap().to_owned();
        Self(child, address)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let ended = self.0.kill().and_then(|()| self.0.wait());
        assert!(ended.is_ok() || std::thread::panicking(), "{ended:?}");
    }
}

/// Two hosts on one state directory.
#[test]
fn the_second_host_is_told_who_the_first_is() {
    let user = User::new();
    let first = Served::start(&user);
    let pid = first.0.id().to_string();
    user.run(&["serve", "--listen", "127.0.0.1:0"]).refused(2, &["HX0308", &pid]);
    user.write("listen.toml", &format!("[server]\nlisten = \"{}\"\n", first.1));
    let doctor = user.run(&["--config", "listen.toml", "doctor"]);
    assert!(doctor.stdout.contains(&format!("{}: the host listens there", first.1)), "{doctor:#?}");
    let by_name = first.1.replace("127.0.0.1", "localhost");
    user.write("listen.toml", &format!("[server]\nlisten = \"{by_name}\"\n"));
    let doctor = user.run(&["--config", "listen.toml", "doctor"]);
    assert!(doctor.stdout.contains(&format!("{by_name}: the host listens there")), "{doctor:#?}");
    // One that is stopped is a host all the same.
    let process = rustix::process::Pid::from_child(&first.0);
    rustix::process::kill_process(process, rustix::process::Signal::STOP).unwrap();
    let doctor = user.run(&["doctor"]);
    let said = format!("✗ host: does not answer (process {pid})");
    assert!(doctor.code == 4 && doctor.stdout.contains(&said), "{doctor:#?}");
    let jobs = user.run(&["jobs"]);
    assert!(jobs.stderr.contains(&format!("the host (process {pid}) does not answer")), "{jobs:#?}");
}

/// A host that runs with another configuration would silently use its agents for this directory's work.
#[test]
fn a_host_with_another_configuration_gets_no_work() {
    let user = User::new();
    user.rehearse("- {key: a, repeat: true, actions: [{write: {path: a.txt, text: \"a\\n\"}}, {say: done}]}\n");
    user.write("p.yaml", PLAN);
    user.repository();
    let host = Served::start(&user);
    let file = user.write("helix.toml", "[jobs]\nmax_parallel = 1\n");
    let pid = host.0.id().to_string();
    let parts = ["HX0919", &pid, "is not read", file.to_str().unwrap(), "--state-dir"];
    user.run(&["run", "p.yaml"]).refused(2, &parts);
    user.run(&["chat", "-m", "hi"]).refused(2, &parts);
    assert_eq!(user.run(&["--json", "jobs"]).json(), json!([]), "no job was made");
    // Whoever names the host's file means it.
    let config = user.state().with_file_name("home").join(".config/helix/helix.toml");
    let ran = user.run(&["--config", config.to_str().unwrap(), "run", "p.yaml"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

/// Files that say the same are one configuration: what `helix init` writes does not keep projects apart.
#[test]
fn a_second_project_with_the_same_settings_uses_the_host() {
    let user = User::new();
    user.rehearse("- {key: a, repeat: true, actions: [{write: {path: a.txt, text: \"a\\n\"}}, {say: done}]}\n");
    for (project, text) in [("one", "[jobs]\nmax_parallel = 2\n"), ("two", "# mine\n[jobs]\nmax_parallel = 2\n")] {
        user.write(&format!("{project}/p.yaml"), PLAN);
        user.write(&format!("{project}/helix.toml"), text);
    }
    user.repository();
    let _host = Served::start_in(&user, "one");
    let run = || {
        crate::user::ran(user.helix().current_dir(user.work().join("two")).args(["run", "p.yaml"]).output().unwrap())
    };
    let ran = run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    user.write("two/helix.toml", "[jobs]\nmax_parallel = 1\n");
    let ran = run();
    let own = format!("--state-dir {}-two", user.state().display());
    ran.refused(2, &["HX0919", &own]);
    assert!(!ran.stderr.contains("--config"), "another project's file is no remedy: {ran:#?}");
}

/// A limit that is written down while a host runs would not count.
#[test]
fn a_configuration_that_has_changed_since_the_host_began_gets_no_work() {
    let user = User::new();
    user.rehearse("- {key: a, repeat: true, actions: [{write: {path: a.txt, text: \"a\\n\"}}, {say: done}]}\n");
    user.write("p.yaml", PLAN);
    user.write("helix.toml", "[jobs]\nmax_parallel = 2\n");
    user.repository();
    let host = Served::start(&user);
    user.write("helix.toml", "# the same\n[jobs]\nmax_parallel = 2\n");
    assert_eq!(user.run(&["run", "p.yaml", "--dry-run"]).code, 0);
    user.write("helix.toml", "[jobs]\nmax_parallel = 2\nbudget_usd = 0.5\n");
    let pid = host.0.id().to_string();
    user.run(&["run", "p.yaml"]).refused(2, &["HX0919", &pid, "has changed since"]);
    assert_eq!(user.run(&["--json", "jobs"]).json(), json!([]), "no job was made");
}

/// What a host keeps before anybody asked for anything: the rules of failures alone were 25 MB and a tenth of a second.
#[test]
fn an_idle_host_is_small() {
    let user = User::new();
    let host = Served::start(&user);
    let status = std::fs::read_to_string(format!("/proc/{}/status", host.0.id())).unwrap();
    let own = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap().trim();
    let kibibytes: u64 = own.trim_end_matches(" kB").parse().unwrap();
    assert!(kibibytes < 16 * 1024, "an idle host has {own} of its own");
}

/// Agents outlive their host and know Helix's tools by its address: the next host has the same one.
#[test]
fn the_next_host_is_reached_where_the_dead_one_was() {
    let user = User::new();
    let address = || {
        let announced = std::fs::read(user.state().join("host.json")).unwrap();
        let announced: serde_json::Value = serde_json::from_slice(&announced).unwrap();
        announced["url"].as_str().unwrap().to_owned()
    };
    let first = Served::start(&user);
    let before = address();
    drop(first);
    let second = Served::start(&user);
    assert_eq!(address(), before);
    drop(second);
    // Where somebody else has taken the port meanwhile, any other will do.
    let taken = std::net::TcpListener::bind(before.trim_start_matches("http://")).unwrap();
    let third = Served::start(&user);
    assert_ne!(address(), before);
    drop((taken, third));
}

#[test]
fn a_dirty_worktree_stays_as_it_is_and_the_job_works_beside_it() {
    let user = User::new();
    user.write("plans/p/phases.yaml", PLAN);
    user.write("mine.txt", "first\n");
    user.write("a.txt", "one\n2\n3\n4\nfive\n");
    user.repository();
    user.rehearse(
        "- {key: a, repeat: true, actions: [{write: {path: a.txt, text: \"ONE\\n2\\n3\\n4\\nfive\\n\"}}, {say: done}]}\n",
    );
    user.write("mine.txt", "uncommitted\n");
    // The result changes this one, too.
    user.write("a.txt", "one\n2\n3\n4\nmine\n");
    user.write("new.txt", "untracked\n");
    let before = user.git(&["status", "--porcelain"]);
    let ran = user.run(&["run", "plans/p/phases.yaml"]);
    // Nothing has come to the user's branch, and scripts have to notice.
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.stdout.contains("NOT merged: a.txt in "), "{ran:#?}");
    assert_eq!(std::fs::read_to_string(user.work().join("mine.txt")).unwrap(), "uncommitted\n");
    assert_eq!(std::fs::read_to_string(user.work().join("new.txt")).unwrap(), "untracked\n");
    assert_eq!(user.git(&["status", "--porcelain"]), before, "{ran:#?}");

    // Without a host, what happened can still be read.
    let jobs = user.run(&["--json", "jobs"]).json();
    let id = jobs[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(jobs[0]["status"], "succeeded");
    assert!(user.run(&["jobs", "show", &id]).stdout.contains("files_exist"));
    assert!(user.run(&["jobs", "logs", &id]).stdout.contains("done"));
    user.run(&["jobs", "cancel", &id]).refused(2, &["over"]);
    assert!(user.run(&["jobs"]).stdout.contains("succeeded (not merged)"));
    assert_eq!(user.run(&["jobs", "watch", &id]).code, 1, "as the job ended");
    // The command that is printed works as it is.
    let take = ran.stdout.lines().find_map(|line| line.split_once("take it with: ")).unwrap().1;
    let mut shell = std::process::Command::new("sh");
    let taken = crate::user::ran(shell.args(["-c", take]).env("HOME", user.work().join("../home")).output().unwrap());
    assert_eq!(taken.code, 0, "{take}: {taken:#?}");
    assert_eq!(std::fs::read_to_string(user.work().join("a.txt")).unwrap(), "ONE\n2\n3\n4\nmine\n");
    assert_eq!(std::fs::read_to_string(user.work().join("mine.txt")).unwrap(), "uncommitted\n");
}

/// Whoever only watches a job is not the one who runs all others; that nobody runs them is said.
#[test]
fn a_watcher_brings_a_host_into_the_background_and_no_other_job_into_the_foreground() {
    let user = User::new();
    user.write("plans/p/phases.yaml", PLAN);
    user.repository();
    user.rehearse(HANGING);
    let host = Served::start(&user);
    let submit = || user.run(&["--json", "run", ".", "--detach"]).json()["job"].as_str().unwrap().to_owned();
    let (watched, other) = (submit(), submit());
    drop(host);
    let listed = user.run(&["jobs"]);
    assert!(listed.stderr.contains("no host is running"), "{listed:#?}");
    let mut watcher = user.helix().args(["--json", "jobs", "watch", &watched]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watcher.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("job_submitted")));
    let announced = std::fs::read(user.state().join("host.json")).unwrap();
    let announced: serde_json::Value = serde_json::from_slice(&announced).unwrap();
    let pid = announced["pid"].as_u64().unwrap();
    assert_ne!(pid, u64::from(watcher.id()), "the watcher is no host");
    let signal = |pid: i32, signal| {
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
    };
    signal(i32::try_from(watcher.id()).unwrap(), rustix::process::Signal::INT);
    assert_eq!(watcher.wait().unwrap().code(), Some(130));
    assert!(!user.run(&["jobs"]).stderr.contains("no host is running"));
    for job in [&watched, &other] {
        assert_eq!(user.run(&["jobs", "cancel", job]).code, 0);
    }
    signal(i32::try_from(pid).unwrap(), rustix::process::Signal::TERM);
}

/// What people ask a job that waits for them, and what they are told to do next can be done.
#[test]
fn a_waiting_job_can_be_found_and_answered_and_says_what_is_possible() {
    let user = User::new();
    user.write("plans/p/phases.yaml", &PLAN.replace("    outputs", "    approval: after\n    outputs"));
    user.repository();
    user.rehearse("- {key: a, repeat: true, actions: [{write: {path: a.txt, text: \"a\\n\"}}, {say: done}]}\n");
    assert_eq!(user.run(&["run", "."]).code, 3);
    let list = |arguments: &[&str]| {
        let ran = user.run(&[&["--json", "jobs", "list"], arguments].concat());
        ran.json().as_array().unwrap().len()
    };
    let id = user.run(&["--json", "jobs"]).json()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!((list(&["--status", "waiting"]), list(&["--status", "failed"])), (1, 0));
    assert_eq!((list(&["--limit", "1"]), list(&["--here"])), (1, 1));
    let elsewhere = user.helix().current_dir("/").args(["--json", "jobs", "list", "--here"]).output().unwrap();
    assert_eq!(crate::user::ran(elsewhere).json(), json!([]));
    let elsewhere = user.helix().current_dir("/").args(["jobs", "list", "--here"]).output().unwrap();
    let elsewhere = crate::user::ran(elsewhere);
    assert!(elsewhere.stderr.contains("no jobs of this project yet; `helix jobs list` shows the one"), "{elsewhere:?}");
    let one = user.run(&["jobs", "logs", &id, "--phase", "a", "--attempt", "1"]);
    assert!(one.stdout.contains("done"), "{one:#?}");
    user.run(&["jobs", "logs", &id, "--phase", "a", "--attempt", "9"])
        .refused(2, &["no attempt 9", "it has 1 attempt"]);
    user.run(&["jobs", "diff", &id, "--phase", "a", "--attempt", "9"]).refused(2, &["no attempt 9; it has: 1"]);
    user.run(&["jobs", "diff", &id, "--phase", "b"]).refused(2, &["no phase b; it has: a"]);
    let shown = user.run(&["jobs", "show", &id]);
    assert!(!shown.stdout.contains("jobs show"), "{shown:#?}");
    assert!(shown.stdout.contains(&format!("helix jobs diff {id} --phase a")), "{shown:#?}");
    let (show, cancel) = (format!("`helix jobs show {id}`"), format!("`helix jobs cancel {id}`"));
    user.run(&["jobs", "resume", &id]).refused(2, &["HX0814", "helix answer", &show, &cancel]);
    let open = user.run(&["--json", "answer"]);
    assert!(!open.stdout.contains("\"said\""), "{open:#?}");
    let question = open.json()[0]["id"].as_str().unwrap().to_owned();
    let answered = user.run(&["answer", &question, "--choice", "approve"]);
    assert!(answered.code == 0 && answered.stderr.contains("follow it with: helix jobs watch"), "{answered:#?}");
    assert_eq!(user.run(&["jobs", "watch", &id]).code, 0);
    let nothing = crate::user::ran(user.helix().arg("chat").stdin(Stdio::null()).output().unwrap());
    assert!(nothing.code == 0 && !nothing.stderr.contains("--session"), "nothing was begun: {nothing:#?}");
}

#[test]
fn a_failed_job_is_an_honest_no_with_cause_and_hint() {
    let user = User::new();
    user.write(
        "plans/p/phases.yaml",
        &PLAN
            .replace("    outputs", "    max_attempts: 1\n    on_failure: fail\n    outputs")
            .replace("files_exist", "outputs_claimed"),
    );
    user.repository();
    user.rehearse("- {key: a, repeat: true, actions: [{say: nothing}]}\n");
    let ran = user.run(&["run", "."]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(ran.stdout.contains("failed a:") && ran.stdout.contains("helix jobs logs"), "{ran:#?}");
    let said_once = ran.stdout.contains("a.txt is claimed") && !ran.stdout.contains("a.txt: a.txt");
    assert!(said_once, "{ran:#?}");
    assert_eq!(user.git(&["log", "--oneline"]).lines().count(), 1, "nothing was merged");
    // It is no success where nobody reads what it says, either.
    for reading in [&[] as &[&str], &["--json"]] {
        let mut unread = user.helix().args(reading).args(["run", "."]).stdout(Stdio::piped()).spawn().unwrap();
        drop(unread.stdout.take());
        assert_eq!(unread.wait().unwrap().code(), Some(1), "{reading:?}");
    }
}

#[test]
fn a_chat_without_its_agent_says_so_once_and_offers_a_session_that_is_there() {
    let user = User::new();
    user.write("helix.toml", "[agents.claude]\ncommand = [\"/nonexistent/claude\"]\n");
    assert_eq!(user.run(&["trust"]).code, 0);
    let ran = user.run(&["chat", "-m", "hi"]);
    ran.refused(4, &["/nonexistent/claude", "helix doctor"]);
    assert_eq!(ran.stderr.matches("helix doctor").count(), 1, "{}", ran.stderr);
    assert_eq!(ran.stdout, "", "it is an error, and no answer");
    // Words of no language leave it to the terminal's.
    let german =
        crate::user::ran(user.helix().env("LANG", "de_DE.UTF-8").args(["chat", "-m", "CSV-Export"]).output().unwrap());
    let why = "Der Agent kam nicht zum Arbeiten: /nonexistent/claude kann nicht gestartet werden: /nonexistent/claude gibt es nicht";
    german.refused(4, &[why, "Führe `helix doctor` aus"]);
    let offered = ran.stderr.lines().find_map(|line| line.split_once("helix chat --session ")).unwrap().1;
    assert_eq!(user.run(&["chat", "--session", offered, "--show"]).code, 0, "{ran:#?}");
}

#[test]
fn a_key_stands_for_one_job_and_is_refused_for_another() {
    let user = User::new();
    user.write("plans/p/phases.yaml", PLAN);
    user.write("plans/other/phases.yaml", PLAN);
    user.repository();
    user.rehearse(HANGING);
    let host = Served::start(&user);
    let run = |plan: &str| user.run(&["--json", "run", plan, "--detach", "--idempotency-key", "nightly"]);
    let first = run("plans/p/phases.yaml").json()["job"].clone();
    assert_eq!(run("plans/p").json()["job"], first, "its directory names the same plan");
    let before = user.run(&["--json", "jobs"]).json().as_array().unwrap().len();
    let other = ["run", "plans/other/phases.yaml", "--detach", "--idempotency-key", "nightly"];
    user.run(&other).refused(2, &["HX0419", "nightly", first.as_str().unwrap()]);
    assert_eq!(user.run(&["--json", "jobs"]).json().as_array().unwrap().len(), before);
    // Whoever asks again gets the job even if the plan is gone.
    std::fs::remove_file(user.work().join("plans/p/phases.yaml")).unwrap();
    assert_eq!(run("plans/p/phases.yaml").json()["job"], first);
    assert_eq!(user.run(&["jobs", "cancel", first.as_str().unwrap()]).code, 0);
    user.run(&["jobs", "watch", first.as_str().unwrap()]);
    drop(host);
}

#[test]
fn a_detached_job_is_carried_out_and_stopped_through_the_host() {
    let user = User::new();
    user.write("plans/p/phases.yaml", PLAN);
    user.repository();
    user.rehearse(HANGING);
    let host = Served::start(&user);
    let started = user.run(&["--json", "run", ".", "--detach"]);
    let id = started.json()["job"].as_str().unwrap().to_owned();
    assert_eq!(started.json()["host_pid"], host.0.id());
    // A beginning of an id has to fit one job alone, for whoever asks.
    let second = user.run(&["--json", "run", ".", "--detach"]).json()["job"].as_str().unwrap().to_owned();
    let fits_both = user.run(&["jobs", "cancel", "j"]);
    fits_both.refused(2, &["HX0314", "fits several, such as", &id, &second]);
    for job in [&id, &second] {
        assert_eq!(user.run(&["jobs", "cancel", job]).code, 0);
        let watched = user.run(&["jobs", "watch", job]);
        assert!(watched.stdout.contains("cancelled"), "{watched:#?}");
        // Whoever asked for it is named, as it happens or afterwards.
        let said = format!("{}{}", watched.stderr, watched.stdout);
        assert!(said.contains("cancelled by ") && said.contains("(terminal)"), "{watched:#?}");
        assert_eq!(user.run(&["--json", "jobs", "show", job]).json()["status"], "cancelled");
    }
}

/// The host dies while a job is watched: the watcher takes over, re-attaches, and an interrupt stops the job.
#[test]
fn the_watcher_takes_over_from_a_dead_host() {
    let user = User::new();
    user.write("plans/p/phases.yaml", PLAN);
    user.repository();
    user.rehearse(HANGING);
    let host = Served::start(&user);
    let mut watcher =
        user.helix().args(["--json", "run", "."]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watcher.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut errors = BufReader::new(watcher.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("attempt_started")));
    drop(host);
    assert!(errors.any(|line| line.contains("Reconnecting")));
    let pid = rustix::process::Pid::from_child(&watcher);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let rest: Vec<String> = lines.collect();
    assert!(rest.iter().any(|line| line.contains("job_finished") && line.contains("cancelled")), "{rest:#?}");
    assert_eq!(rest.iter().filter(|line| line.contains("attempt_started")).count(), 0, "never run twice: {rest:#?}");
    assert_eq!(watcher.wait().unwrap().code(), Some(130));
}

/// Nobody is the host: one comes up in the background, carries the job out, and can be watched.
#[test]
fn a_detached_job_brings_its_own_host() {
    let user = User::new();
    user.write("plans/p/phases.yaml", PLAN);
    user.repository();
    user.rehearse("- {key: a, repeat: true, actions: [{write: {path: a.txt, text: \"a\\n\"}}, {say: done}]}\n");
    let started = user.run(&["--json", "run", ".", "--detach"]);
    assert_eq!(started.code, 0, "{started:#?}");
    let id = started.json()["job"].as_str().unwrap().to_owned();
    let watched = user.run(&["jobs", "watch", &id]);
    assert!(watched.code == 0 && watched.stdout.contains("succeeded"), "{watched:#?}");
    let pid = i32::try_from(started.json()["host_pid"].as_u64().unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
}

/// A stand-in for a host, which notes what it is asked.
#[test]
fn an_answer_by_id_does_not_read_all_jobs() {
    let user = User::new();
    std::fs::create_dir_all(user.state().join("terminal")).unwrap();
    let listener = UnixListener::bind(user.state().join("terminal/host.sock")).unwrap();
    let info =
        json!({ "url": "http://127.0.0.1:1", "pid": std::process::id(), "token_file": "/none", "configuration": [] });
    std::fs::write(user.state().join("host.json"), info.to_string()).unwrap();
    let (asked, paths) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut line, mut length) = (String::new(), String::new(), 0);
            while reader.read_line(&mut line).unwrap() > 2 {
                let lower = line.to_lowercase();
                if let Some(value) = lower.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                head.push_str(&line);
                line.clear();
            }
            std::io::copy(&mut reader.take(length), &mut std::io::sink()).unwrap();
            let path = head.split(' ').nth(1).unwrap().to_owned();
            let body = if path == "/healthz" { json!({ "status": "ok" }) } else { json!({}) };
            asked.send(path).unwrap();
            let body = body.to_string();
            let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        }
    });
    // The host, which knows no such job, is asked for the one job of a complete id, and for nothing where a prefix is looked for
    // in the journal.
    for question in ["j1.page.q1", "j1.page"] {
        assert_ne!(user.run(&["answer", question, "--choice", "approve"]).code, 0);
    }
    let paths: Vec<String> = paths.try_iter().filter(|path| path != "/healthz").collect();
    assert_eq!(paths, ["/api/v1/jobs/j1"]);
}

/// A relay at the socket of a host, which writes down what the terminal asks for.
fn overheard(state: &std::path::Path) -> std::sync::Arc<std::sync::Mutex<Vec<String>>> {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::{UnixListener, UnixStream};
    let (socket, behind) = (state.join("terminal/host.sock"), state.join("terminal/behind.sock"));
    std::fs::rename(&socket, &behind).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let asked = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let heard = asked.clone();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, mut host) = (client.unwrap(), UnixStream::connect(&behind).unwrap());
            let (mut back, mut answers, heard) =
                (client.try_clone().unwrap(), host.try_clone().unwrap(), heard.clone());
            std::thread::spawn(move || {
                let _ended = std::io::copy(&mut answers, &mut back);
                let _closed = back.shutdown(std::net::Shutdown::Both);
            });
            std::thread::spawn(move || {
                let mut piece = [0; 65536];
                while let Ok(length @ 1..) = client.read(&mut piece) {
                    let text = String::from_utf8_lossy(&piece[..length]).into_owned();
                    let requests = text.lines().filter_map(|line| line.strip_suffix(" HTTP/1.1"));
                    heard.lock().unwrap().extend(requests.map(str::to_owned));
                    if host.write_all(&piece[..length]).is_err() {
                        break;
                    }
                }
                let _closed = host.shutdown(std::net::Shutdown::Write);
            });
        }
    });
    asked
}

/// A question is answered by its id or a beginning that only it has, and the host is asked for its job and no other.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_takes_a_unique_beginning_and_asks_the_host_for_one_job() {
    let stage = crate::stage::Stage::new("{}", "");
    let _host = stage.start();
    let plan = |name: &str| {
        stage.plan(
            name,
            &format!("name: {name}\nphases:\n  - {{ id: asked, type: decision, description: Shall it be? }}\n"),
        )
    };
    let waiting = async |name: &str| {
        let id = stage.submit(&plan(name), &stage.repo, name).await;
        loop {
            match stage.job(&id).await["questions"][0]["id"].as_str() {
                Some(question) => return question.to_owned(),
                None => tokio::time::sleep(crate::stage::LOOK_AGAIN).await,
            }
        }
    };
    let questions = [waiting("one").await, waiting("two").await, waiting("three").await];
    let asked = overheard(&stage.sandbox.state());
    let answer = |id: &str| crate::user::ran(stage.helix(&["answer", id, "--choice", "approve"]).output().unwrap());
    let heard = || std::mem::take(&mut *asked.lock().unwrap());
    let job_of = |question: &str| question.split('.').next().unwrap().to_owned();

    // By its whole id.
    let done = answer(&questions[0]);
    assert_eq!(done.code, 0, "{done:#?}");
    let requests = heard();
    let one = format!("GET /api/v1/jobs/{}", job_of(&questions[0]));
    assert!(requests.contains(&one), "{requests:#?}");
    assert!(requests.iter().all(|request| !request.contains("/jobs") || *request == one), "{requests:#?}");
    // By a beginning of it, which the journal knows: the host is only told the answer.
    let beginning = questions[1].strip_suffix(".q1").unwrap_or_else(|| panic!("{}", questions[1]));
    let done = answer(beginning);
    assert_eq!(done.code, 0, "{done:#?}");
    let requests = heard();
    let told = format!("POST /api/v1/questions/{}/answer", questions[1]);
    assert!(requests.contains(&told) && requests.iter().all(|request| !request.contains("/jobs")), "{requests:#?}");

    // One that two have, or none.
    let fourth = waiting("four").await;
    answer("j").refused(2, &["matches several questions", &questions[2], &fourth]);
    answer(beginning).refused(2, &["no open question"]);
    answer("nothing").refused(2, &["no open question"]);
}
