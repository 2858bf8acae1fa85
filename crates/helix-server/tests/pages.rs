//! Helix's pages through the real server: who gets in, what they show of a real job, what is done there, and that nothing of others is markup.

mod hostile;

use std::time::Duration;

use crate::host::Host;
use futures::StreamExt;
use helix_job::{How, Person};
use helix_server::ServerConfig;
use helix_testkit::project::{Language, Project, git};
use helix_testkit::sandbox::Sandbox;
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};

/// A browser that is logged in.
struct Browser<'a> {
    host: &'a Host,
    cookie: String,
}

async fn code(host: &Host) -> String {
    let made = host.post("/api/v1/logins").json(&json!({})).send().await.unwrap();
    assert_eq!(made.status(), 200);
    let made: Value = made.json().await.unwrap();
    let url = made["url"].as_str().unwrap();
    assert!(url.starts_with(&host.url), "{url}");
    url.split_once("code=").unwrap().1.to_owned()
}

async fn plain(host: &Host, path: &str) -> Response {
    host.http.get(format!("{}{path}", host.url)).send().await.unwrap()
}

impl<'a> Browser<'a> {
    async fn log_in(host: &'a Host) -> Self {
        let answer = plain(host, &format!("/login?code={}", code(host).await)).await;
        assert_eq!(answer.status(), 200);
        let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
        assert!(
            cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Path=/"),
            "{cookie}"
        );
        Self { host, cookie: cookie.split(';').next().unwrap().to_owned() }
    }

    fn get(&self, path: &str) -> RequestBuilder {
        self.host.http.get(format!("{}{path}", self.host.url)).header("cookie", &self.cookie)
    }

    async fn page(&self, path: &str) -> String {
        let answer = self.get(path).send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert_eq!(status, 200, "{path}: {text}");
        text
    }

    fn form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let body: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", percent(value))).collect();
        self.host
            .http
            .post(format!("{}{path}", self.host.url))
            .header("cookie", &self.cookie)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body.join("&"))
    }

    /// As a browser sends a form of a page of this host.
    async fn sends(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        self.form(path, fields).header("origin", &self.host.url).send().await.unwrap()
    }

    /// Waits until a page shows this.
    async fn shows(&self, path: &str, text: &str) -> String {
        let mut last = String::new();
        for _ in 0..600 {
            last = self.page(path).await;
            if last.contains(text) {
                return last;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{path} does not show {text:?}: {last}")
    }
}

fn percent(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

fn config() -> ServerConfig {
    ServerConfig { heartbeat: Duration::from_millis(200), ..ServerConfig::default() }
}

/// A host whose redirects a test sees itself.
async fn host() -> Host {
    let mut host = Host::with_agent(config()).await;
    host.http = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(Duration::from_secs(60))
        .build()
        .unwrap();
    host
}

const PAGES: [&str; 4] = ["/", "/questions", "/decisions", "/system"];

#[tokio::test]
async fn only_a_code_gets_in_and_only_once_and_logging_out_ends_it() {
    let host = host().await;
    for path in PAGES {
        assert_eq!(plain(&host, path).await.status(), 401, "{path}");
        // The API's token is no way to the pages: it would work for everybody who finds it.
        assert_eq!(host.get(path).send().await.unwrap().status(), 401, "{path}");
    }
    assert_eq!(plain(&host, "/live").await.status(), 401);
    let code = code(&host).await;
    let head = host.http.head(format!("{}/login?code={code}", host.url)).send().await.unwrap();
    assert_eq!(head.status(), 401, "who only looks at it does not use it up");
    let first = plain(&host, &format!("/login?code={code}")).await;
    assert_eq!(first.status(), 200);
    let again = plain(&host, &format!("/login?code={code}")).await;
    assert_eq!((again.status().as_u16(), again.headers().contains_key("set-cookie")), (401, false));

    let browser = Browser::log_in(&host).await;
    for path in PAGES {
        let answer = browser.get(path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        let policy = answer.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.contains("default-src 'none'; script-src 'self'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.headers()["cache-control"], "no-store");
        assert_eq!(answer.headers()["referrer-policy"], "same-origin");
    }
    // The cookie opens the pages alone.
    let api =
        host.http.get(format!("{}/api/v1/jobs", host.url)).header("cookie", &browser.cookie).send().await.unwrap();
    assert_eq!(api.status(), 401);
    let out = browser.sends("/logout", &[]).await;
    assert_eq!(out.status(), 200);
    assert!(out.headers()["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(browser.get("/").send().await.unwrap().status(), 401, "the session is over wherever its cookie is");
    host.stop().await;
}

#[tokio::test]
async fn a_form_counts_only_from_a_page_of_this_host() {
    let host = host().await;
    let browser = Browser::log_in(&host).await;
    let other = host.url.replace(char::is_numeric, "1");
    for (origin, status) in
        [(None, 403), (Some("null"), 403), (Some("https://evil.example"), 403), (Some(other.as_str()), 403)]
    {
        let form = browser.form("/logout", &[]);
        let form = match origin {
            Some(origin) => form.header("origin", origin),
            None => form,
        };
        assert_eq!(form.send().await.unwrap().status(), status, "{origin:?}");
    }
    assert_eq!(browser.get("/").send().await.unwrap().status(), 200, "none of them has logged out");
    // Not even of an origin that may call the API: its pages are somebody else's.
    host.stop().await;
    let config = ServerConfig { allowed_origins: vec!["http://127.0.0.1:3000".into()], ..config() };
    let host = Host::start_with(config).await;
    let browser = Browser::log_in(&host).await;
    let sent = browser.form("/logout", &[]).header("origin", "http://127.0.0.1:3000").send().await.unwrap();
    assert_eq!(sent.status(), 403);
    host.stop().await;
}

#[tokio::test]
async fn a_person_logs_in_with_their_key_until_it_is_revoked_and_nobody_without_proof() {
    let host = host().await;
    let key = host.engine().keys().create(helix_server::wire::Holder::Person, "Ana").unwrap();
    let made =
        host.http.post(format!("{}/api/v1/logins", host.url)).bearer_auth(&key).json(&json!({})).send().await.unwrap();
    let made: Value = made.json().await.unwrap();
    let answer = host.http.get(made["url"].as_str().unwrap()).send().await.unwrap();
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let browser = Browser { host: &host, cookie };
    assert!(browser.page("/").await.contains("Ana (browser)"));
    host.engine().keys().revoke(helix_server::wire::Holder::Person, "Ana").unwrap();
    assert_eq!(browser.get("/").send().await.unwrap().status(), 401);
    for how in [How::Browser, How::Chat, How::Open] {
        assert_eq!(host.engine().logins().code(&Person::new("Eve", how)).unwrap(), None);
    }
    let chat = host.engine().keys().create(helix_server::wire::Holder::Chat, "phone").unwrap();
    let refused =
        host.http.post(format!("{}/api/v1/logins", host.url)).bearer_auth(&chat).json(&json!({})).send().await.unwrap();
    assert_eq!(refused.status(), 403);
    host.stop().await;
}

#[tokio::test]
async fn pages_are_in_the_language_that_the_browser_asks_for_and_say_how_to_begin() {
    let host = host().await;
    let browser = Browser::log_in(&host).await;
    let german = browser
        .get("/")
        .header("accept-language", "fr, de-AT;q=0.8, en;q=0.5")
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(
        german.contains("<html lang=\"de\">") && german.contains("Übersicht") && german.contains("helix demo"),
        "{german}"
    );
    let english = browser.page("/").await;
    assert!(english.contains("<html lang=\"en\">") && english.contains("Start your first job"), "{english}");
    assert!(browser.page("/questions").await.contains("Nothing waits for an answer"));
    assert!(browser.page("/decisions").await.contains("helix chat"));
    let missing = browser.get("/jobs/none").send().await.unwrap();
    assert_eq!(missing.status(), 404);
    assert!(missing.text().await.unwrap().contains("To the board"));
    host.stop().await;
}

/// The first page with its files is small, and its files may be kept.
#[tokio::test]
async fn the_first_page_is_small_and_loads_nothing_from_elsewhere() {
    let host = host().await;
    let browser = Browser::log_in(&host).await;
    let page = browser.page("/").await;
    let files: Vec<&str> = page.split(&['"'][..]).filter(|text| text.starts_with("/assets/")).collect();
    assert!(files.len() >= 3, "{page}");
    assert!(!page.contains("http://") && !page.contains("https://"), "{page}");
    let mut sum = 0;
    for path in files.iter().copied().chain(["/"]) {
        let answer = browser.get(path).header("accept-encoding", "gzip").send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        assert_eq!(answer.headers()["content-encoding"], "gzip", "{path}");
        if path != "/" {
            assert!(answer.headers()["cache-control"].to_str().unwrap().contains("immutable"));
        }
        sum += answer.bytes().await.unwrap().len();
    }
    assert!(sum < 120 * 1024, "{sum} bytes");
    assert_eq!(browser.get("/assets/style.css").send().await.unwrap().status(), 404);
    host.stop().await;
}

/// A repository with a plan, which is submitted over the API; its id.
async fn submit(host: &Host, sandbox: &Sandbox, plan: &str) -> String {
    let repo = sandbox.path().join("shop");
    std::fs::create_dir_all(repo.join("plans/pages")).unwrap();
    std::fs::write(repo.join("plans/pages/phases.yaml"), plan).unwrap();
    for arguments in [vec!["add", "-A"], vec!["commit", "-qm", "plan"]] {
        git(&repo, sandbox.environment(), &arguments).unwrap();
    }
    let answer = host.post("/api/v1/jobs").json(&json!({ "project_path": repo })).send().await.unwrap();
    let status = answer.status();
    let job: Value = answer.json().await.unwrap();
    assert_eq!(status, 202, "{job}");
    job["id"].as_str().unwrap().to_owned()
}

fn shop() -> Sandbox {
    let sandbox = Sandbox::new().unwrap();
    sandbox.project("shop", Project::healthy(Language::Python)).unwrap();
    sandbox
}

const STORY: &str = "name: Price list
phases:
  - id: page
    name: Write the page
    type: documentation
    description: \"[[fake: write page.md The old price is 10 euros.]] [[fake: text I have written the page.]]\"
    outputs: [page.md]
    approval: after
  - id: more
    name: Write more
    type: documentation
    description: \"[[fake: write more.md More.]]\"
    depends_on: [page]
    outputs: [more.md]
";

#[tokio::test]
async fn a_job_is_watched_answered_and_proved_in_the_pages() {
    let (host, sandbox) = (host().await, shop());
    let browser = Browser::log_in(&host).await;
    // A stream that is open from before the job was there sees it come.
    let mut live = browser.get("/live").send().await.unwrap().bytes_stream().boxed();
    let id = submit(&host, &sandbox, STORY).await;
    let mut seen = String::new();
    while !seen.contains(&format!("/questions/{id}.page.q1")) {
        seen.push_str(&String::from_utf8_lossy(&live.next().await.unwrap().unwrap()));
    }
    assert!(seen.contains("event: part\n"), "{seen}");
    let board = browser.page("/").await;
    let (needs, rest) = board.split_once("id=\"lane-running\"").unwrap();
    assert!(needs.contains("Price list") && !rest.contains("Price list"), "{board}");
    assert!(!browser.page("/?q=something+else").await.contains("Price list"));

    // The phase that waits is selected, with what it changed.
    let job = browser.page(&format!("/jobs/{id}")).await;
    for text in ["Write the page", "The old price is 10 euros.", "page.md", "<svg", "aria-current", "Timeline"] {
        assert!(job.contains(text), "{text}: {job}");
    }
    let activity = browser.page(&format!("/jobs/{id}?phase=page&tab=activity")).await;
    assert!(activity.contains("I have written the page."), "{activity}");
    assert!(browser.page(&format!("/jobs/{id}?phase=page&tab=prompt")).await.contains("The old price is 10 euros."));
    // What a page has of a run is not sent again; of another run it has nothing.
    let run = activity.split("data-run=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    for (had, sends) in [(run, false), ("another-run", true)] {
        let path = format!("/jobs/{id}/live?phase=page&tab=activity&run={had}&after=1000");
        let mut live = browser.get(&path).send().await.unwrap().bytes_stream().boxed();
        let mut sent = String::new();
        // A stream that has nothing to say says so.
        while !sent.contains("event: item") && sent.matches("\n:").count() < 3 {
            sent.push_str(&String::from_utf8_lossy(&live.next().await.unwrap().unwrap()));
        }
        assert_eq!(sent.contains("event: item"), sends, "{had}: {sent}");
    }

    let questions = browser.page("/questions").await;
    assert!(questions.contains("Price list") && questions.contains("value=\"approve\""), "{questions}");
    assert!(questions.contains("What the agent says:") && questions.contains("Done."), "{questions}");
    let answer = format!("/questions/{id}.page.q1");
    let wrong = browser.sends(&answer, &[("choice", "perhaps"), ("back", "board")]).await;
    assert_eq!(wrong.status(), 422);
    let given = browser.sends(&answer, &[("choice", "approve"), ("back", "questions")]).await;
    assert_eq!((given.status().as_u16(), given.headers()["location"].to_str().unwrap()), (303, "/questions"));
    let late = browser.sends(&answer, &[("choice", "approve"), ("back", "board")]).await;
    assert_eq!(late.status(), 409, "it is answered once");

    let proof = browser.shows(&format!("/jobs/{id}?phase=page&tab=evidence"), "succeeded").await;
    assert!(proof.contains("proved") && proof.contains("(browser)") && !proof.contains("/retry\""), "{proof}");
    let board = browser.page("/").await;
    assert!(board.split_once("id=\"lane-proven\"").unwrap().1.contains("Price list"), "{board}");
    let bundle = browser.get(&format!("/jobs/{id}/bundle")).send().await.unwrap();
    assert!(bundle.headers()["content-disposition"].to_str().unwrap().starts_with("attachment"));
    let bundle: Value = bundle.json().await.unwrap();
    assert!(bundle["payload"].is_string(), "{bundle}");
    assert_eq!(browser.sends(&format!("/jobs/{id}/cancel"), &[("back", "job")]).await.status(), 409, "it is over");
    let retried = browser.sends(&format!("/jobs/{id}/retry"), &[("phase", "more")]).await;
    assert_eq!(retried.status(), 409, "{}", retried.text().await.unwrap());
    host.stop().await;
}

#[tokio::test]
async fn a_job_is_cancelled_and_resumed_in_the_pages_by_name() {
    let (host, sandbox) = (host().await, shop());
    let browser = Browser::log_in(&host).await;
    let id = submit(&host, &sandbox, &STORY.replace("approval: after", "approval: before")).await;
    browser.shows("/questions", "approve").await;
    let done = browser.sends(&format!("/jobs/{id}/cancel"), &[("back", "board")]).await;
    assert_eq!((done.status().as_u16(), done.headers()["location"].to_str().unwrap()), (303, "/"));
    let page = browser.shows(&format!("/jobs/{id}"), "/resume\"").await;
    assert!(page.contains("(browser)"), "{page}");
    let done = browser.sends(&format!("/jobs/{id}/resume"), &[("back", "job")]).await;
    assert_eq!(done.headers()["location"].to_str().unwrap(), format!("/jobs/{id}"));
    browser.shows("/questions", "approve").await;
    host.stop().await;
}

/// What others write, wherever it stands, is text on every page.
#[tokio::test]
async fn hostile_text_is_never_markup() {
    let (host, sandbox) = (host().await, shop());
    let corpus = hostile::corpus();
    assert!(corpus.len() >= 200, "{}", corpus.len());
    let all = corpus.join("\n");
    let repo = sandbox.path().join("shop");
    std::fs::create_dir_all(repo.join("adr")).unwrap();
    let adr =
        format!("---\nadr_id: \"001\"\ntitle: {}\nstatus: accepted\n---\n# {}\n\n{all}\n", json!(corpus[0]), corpus[1]);
    std::fs::write(repo.join("adr/001-hostile.md"), adr).unwrap();
    // The agent writes and says what it finds in a file: orders have no room for all of it.
    std::fs::write(repo.join("corpus.txt"), &all).unwrap();
    let order = "[[fake: run cat corpus.txt > page.md; touch 'a<img src=x onerror=alert(1)>.md']]";
    let plan = format!(
        "name: {}\nphases:\n  - id: page\n    name: {}\n    type: documentation\n    description: {}\n    outputs: [page.md, \"*.md\"]\n    \
         gates:\n      - {{ type: approval, question: {} }}\n  - id: other\n    name: {}\n    type: documentation\n    description: more\n    depends_on: [page]\n    outputs: [o.md]\n",
        json!(corpus[2]),
        json!(corpus[3]),
        json!(format!("{order} [[fake: text {}]] {all}", corpus[4].replace("]]", ""))),
        json!(all),
        json!(corpus[5]),
    );
    let id = submit(&host, &sandbox, &plan).await;
    let browser = Browser::log_in(&host).await;
    browser.shows("/questions", "value=\"approve\"").await;
    let mut found = 0;
    let tabs =
        ["activity", "changes", "checks", "evidence", "prompt"].map(|tab| format!("/jobs/{id}?phase=page&tab={tab}"));
    let project = percent(repo.to_str().unwrap());
    let others = [format!("/decisions/adr%2F001-hostile.md?project={project}"), format!("/?q={}", percent(&corpus[0]))];
    for path in PAGES.iter().map(|path| (*path).to_owned()).chain(tabs).chain(others) {
        let page = browser.page(&path).await;
        hostile::is_clean(&path, &page);
        found += corpus.iter().filter(|text| page.contains(&hostile::escaped(text))).count();
    }
    // Said, asked, changed, decided: the corpus was really there.
    assert!(found > 3 * corpus.len(), "{found} of {}", corpus.len());
    // What is sent later is no other.
    let mut live =
        browser.get(&format!("/jobs/{id}/live?phase=page&tab=activity")).send().await.unwrap().bytes_stream().boxed();
    let mut sent = String::new();
    while !sent.contains("event: item") {
        sent.push_str(&String::from_utf8_lossy(&live.next().await.unwrap().unwrap()));
    }
    let html: String = sent.lines().filter_map(|line| line.strip_prefix("data: ")).collect::<Vec<_>>().join("\n");
    hostile::is_clean("live", &html);
    for path in [
        "/jobs/%3Cscript%3E",
        "/decisions/%3Cscript%3Ealert(1)%3C%2Fscript%3E?project=%3Cb%3E",
        "/login?code=%3Cscript%3E",
    ] {
        hostile::is_clean(path, &browser.get(path).send().await.unwrap().text().await.unwrap());
    }
    let answer = browser.sends("/questions/%3Cimg%3E", &[("choice", "<b>"), ("back", "board")]).await;
    hostile::is_clean("answer", &answer.text().await.unwrap());
    host.stop().await;
}
