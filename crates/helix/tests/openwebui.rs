//! `helix openwebui connect` against the routes of Open WebUI that it uses, with a real host behind them.

mod fake;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};

use crate::user::{Ran, User};
use fake::{OpenWebUi, PASSWORD, TOKEN};
use serde_json::{Value, json};

/// A host that ends with the test.
struct Served(Child, String);

impl Served {
    fn start(user: &User) -> Self {
        let mut command = user.helix();
        command.args(["--json", "serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        Self(child, said["url"].as_str().unwrap().to_owned())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let ended = self.0.kill().and_then(|()| self.0.wait());
        assert!(ended.is_ok() || std::thread::panicking(), "{ended:?}");
    }
}

fn connect(user: &User, page: &str, more: &[&str]) -> Ran {
    let mut command = user.helix();
    command.env("OPENWEBUI_TOKEN", TOKEN).stdin(Stdio::null());
    crate::user::ran(command.args(["openwebui", "connect", page]).args(more).output().unwrap())
}

#[test]
fn everything_is_entered_once_and_arrives() {
    let user = User::new();
    let web = OpenWebUi::start("0.12.4");
    connect(&user, &web.page, &[]).refused(4, &["HX0913", "helix serve"]);
    let host = Served::start(&user);
    let ran = connect(&user, &web.page, &[]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stdout.contains("all headers arrive") && ran.stderr.contains("--private"), "{ran:#?}");
    assert_eq!(web.writes(), ["config", "create helix"]);
    let token = std::fs::read_to_string(user.state().join("token")).unwrap();
    assert!(!ran.stdout.contains(token.trim()) && !ran.stderr.contains(token.trim()), "the key is a secret");
    {
        let kept = web.kept.lock().unwrap();
        assert_eq!(
            kept.config["OPENAI_API_BASE_URLS"],
            json!(["https://api.openai.example/v1", format!("{}/v1", host.1)])
        );
        let keys = &kept.config["OPENAI_API_KEYS"];
        let own = keys[1].as_str().unwrap();
        assert!(keys[0] == "other" && own.starts_with("hxc-"), "a token of its own, not the host's: {keys}");
        assert!(!ran.stdout.contains(own) && !ran.stderr.contains(own), "the key is a secret");
        assert_eq!(kept.config["ENABLE_OPENAI_API"], true);
        assert_eq!(kept.config["OPENAI_API_CONFIGS"]["0"]["prefix_id"], "oa", "the other connection is as it was");
        let model = &kept.models[0];
        assert!(
            model["meta"]["profile_image_url"].as_str().unwrap().starts_with("data:image/png;base64,"),
            "{model:#}"
        );
        assert!(model["meta"]["suggestion_prompts"][0]["content"].is_string(), "{model:#}");
        assert_eq!(model["meta"]["capabilities"]["usage"], true);
        assert_eq!(model["access_grants"][0]["principal_id"], "*", "other accounts see it");
    }
    let again = connect(&user, &web.page, &["--json"]);
    assert_eq!((again.code, &again.json()["changes"]), (0, &json!([])), "{again:#?}");
    assert_eq!(web.writes(), Vec::<String>::new(), "nothing is written twice");
    let private = connect(&user, &web.page, &["--private", "--json"]);
    assert_eq!(private.json()["changes"], json!(["model helix: access_grants"]), "{private:#?}");
    assert_eq!(web.kept.lock().unwrap().models[0]["access_grants"], json!([]));
    assert_eq!(web.writes(), ["access helix"]);
    let key = user.state().join("openwebui.key");
    assert!(!key.exists(), "no token is kept unless that is wanted");
    let news = connect(&user, &format!("{}/", web.page), &["--news"]);
    assert!(news.code == 0 && news.stdout.contains("openwebui.key") && !news.stdout.contains(TOKEN), "{news:#?}");
    let kept: Value = serde_json::from_slice(&std::fs::read(&key).unwrap()).unwrap();
    assert_eq!(kept, json!({ "page": web.page, "token": TOKEN }));
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let sessions = user.run(&["chat", "--json", "--show"]);
    assert!(!sessions.stdout.contains("helix-chat"), "a probe is no session: {sessions:#?}");
}

#[test]
fn what_is_wrong_is_said_and_changes_nothing() {
    let user = User::new();
    let web = OpenWebUi::start("0.12.4");
    let _host = Served::start(&user);
    let nowhere = connect(&user, "http://127.0.0.1:9", &[]);
    nowhere.refused(4, &["HX0944", "http://127.0.0.1:9", "hint"]);
    connect(&user, "https://chat.example", &[]).refused(2, &["HX0944", "only http", "tunnel"]);
    connect(&user, &OpenWebUi::start("0.8.12").page, &[]).refused(4, &["HX0944", "0.8.12", "update"]);
    let mut wrong = user.helix();
    wrong.env("OPENWEBUI_TOKEN", "guess").args(["openwebui", "connect", &web.page]);
    crate::user::ran(wrong.output().unwrap()).refused(4, &["HX0944", "administrator"]);
    connect(&user, &web.page, &["--helix-url", "http://127.0.0.1:9"]).refused(4, &["HX0945", "--helix-url"]);
    assert_eq!(web.writes(), Vec::<String>::new());
    web.kept.lock().unwrap().loses = Some("X-Parent");
    connect(&user, &web.page, &[]).refused(4, &["HX0945", "x-parent", "proxy"]);
    assert!(!user.state().join("openwebui.json").exists(), "a connection that does not work is not recorded");
}

#[test]
fn an_account_signs_in_with_a_password_that_no_one_sees() {
    let user = User::new();
    let web = OpenWebUi::start("0.12.4");
    let _host = Served::start(&user);
    let mut command = user.helix();
    command.args(["openwebui", "connect", &web.page, "--email", "a@example.org"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{PASSWORD}\n").as_bytes()).unwrap();
    let ran = crate::user::ran(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(!ran.stdout.contains(PASSWORD) && !ran.stderr.contains(PASSWORD), "{ran:#?}");
}

#[test]
fn doctor_examines_what_was_connected() {
    let user = User::new();
    user.identity();
    let check = |token: Option<&str>| {
        let mut command = user.helix();
        command.args(["doctor", "--json"]).envs(token.map(|token| ("OPENWEBUI_TOKEN", token)));
        let ran = crate::user::ran(command.output().unwrap()).json();
        ran["checks"].as_array().unwrap().iter().find(|check| check["what"] == "Open WebUI").cloned()
    };
    assert_eq!(check(None), None, "none was connected");
    let web = OpenWebUi::start("0.12.4");
    let host = Served::start(&user);
    assert_eq!(connect(&user, &web.page, &[]).code, 0);
    web.writes();
    let without = check(None).unwrap();
    assert!(without["state"] == "good" && without["found"].as_str().unwrap().contains("OPENWEBUI_TOKEN"), "{without}");
    let with = check(Some(TOKEN)).unwrap();
    assert!(with["found"].as_str().unwrap().contains("all headers arrive"), "{with}");
    web.kept.lock().unwrap().config["OPENAI_API_CONFIGS"]["1"]["headers"]["X-Chat"] = "".into();
    let changed = check(Some(TOKEN)).unwrap();
    assert!(changed["state"] == "problem" && changed["found"].as_str().unwrap().contains("X-Chat"), "{changed}");
    assert_eq!(web.writes(), Vec::<String>::new(), "doctor changes nothing");
    // Another token of the host changes nothing; one of Open WebUI that was revoked does.
    drop(host);
    std::fs::write(user.state().join("token"), "another-token-of-helix\n").unwrap();
    let _host = Served::start(&user);
    assert_eq!(check(None).unwrap()["state"], "good");
    let name = user.run(&["--json", "token", "list"]).json()[0]["name"].as_str().unwrap().to_owned();
    assert_eq!(user.run(&["token", "revoke", &name]).code, 0);
    let stale = check(None).unwrap();
    assert!(stale["found"].as_str().unwrap().contains("token was revoked"), "{stale}");
    assert!(stale["remedy"].as_str().unwrap().contains(&format!("helix openwebui connect {}", web.page)), "{stale}");
}
