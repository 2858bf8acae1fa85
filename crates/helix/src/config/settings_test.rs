use helix_engine::failures::MemoryUse;

use super::super::files::check;
use super::super::keys::sample;
use super::*;

fn problems(text: &str) -> Vec<String> {
    check("helix.toml", text).iter().map(ToString::to_string).collect()
}

/// Settings of files, the strongest first.
fn of(texts: &[&str]) -> Settings {
    for text in texts {
        assert_eq!(problems(text), [""; 0]);
    }
    let files = texts
        .iter()
        .enumerate()
        .map(|(number, text)| (PathBuf::from(format!("/p{number}/helix.toml")), (*text).into()));
    let environment = Environment::for_tests();
    Settings::put_together(&environment, &Overrides::default(), Files { files: files.collect() }).unwrap()
}

fn served(text: &str) -> ServerConfig {
    of(&[text]).server(ServerConfig::default())
}

fn example() -> &'static str {
    let page = include_str!("../../../../docs/configuration.md");
    page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap()
}

#[test]
fn the_documented_keys_are_those_that_are_read() {
    assert_eq!(example(), sample("", |_| true), "docs/configuration.md is out of date");
    let settings = of(&[example()]);
    assert_eq!(settings.agents["claude"].value.command, ["claude"]);
    assert_eq!((settings.policy().budget_usd, settings.policy().max_turns), (Some(10.0), Some(400)));
    let page = include_str!("../../../../docs/configuration.md");
    for more in page.split("```toml\n").skip(2).filter_map(|rest| rest.split("```").next()) {
        assert_eq!(problems(more), [""; 0]);
    }
}

#[test]
fn unknown_keys_are_errors_with_a_place_and_a_suggestion() {
    let found = problems("[server]\nlisten = \"127.0.0.1:1\"\ntokenfile = \"x\"\n\n[job]\n");
    assert!(found[0].starts_with("helix.toml:3:1: error[HX0902]: `server` has no key `tokenfile`"), "{found:?}");
    assert!(found[0].contains("did you mean `token_file`?"), "{found:?}");
    assert!(found[1].starts_with("helix.toml:5:2: error[HX0902]: helix.toml has no key `job`"), "{found:?}");
    assert!(found[1].contains("did you mean `jobs`?"), "{found:?}");
}

#[test]
fn wrong_values_say_what_would_be_right() {
    for (text, part) in [
        ("[jobs]\nmax_parallel = 0\n", "`jobs.max_parallel` is 0\n  hint: write at least 1"),
        ("[jobs]\nbudget_usd = -1\n", "`jobs.budget_usd` is -1\n  hint: write US dollars above 0"),
        ("[jobs]\nmax_tokens = 0\n", "write at least 1"),
        ("[jobs]\nmax_wait = \"never\"\n", "\"never\" is not a duration"),
        ("[consultant]\nturn_timeout = \"soon\"\n", "\"soon\" is not a duration"),
        ("[consultant]\nfollow_jobs = \"-1s\"\n", "\"-1s\" is not a duration"),
        ("[consultant]\nturn_timeout = 90\n", "write 90s for seconds or 90m for minutes"),
        ("[server]\nroots = \"/a\"\n", "`server.roots` must be a list, but this is the text \"/a\""),
        ("[agents.x]\ndialect = \"cloude\"\n", "did you mean `claude`?"),
        ("[agents.x]\ncommand = []\n", "`agents.x.command` is empty"),
        ("[agents.x]\ndialect = \"codex\"\ntrust_exit = true\n", "is not available in the codex dialect"),
        ("[consultant]\nenforcement = [\"step_maker\"]\n", "did you mean `step_marker`?"),
        ("[consultant]\nenforcement_retries = -1\n", "must be a whole number"),
        ("[consultant]\nexperts = \"yes\"\n", "must be true or false"),
        ("agents = 3\n", "`agents` must be a mapping of keys to values, but this is the number 3"),
        (
            "[escalation]\nperson = \"nevr\"\n",
            "helix.toml:2:10: error[HX0903]: `nevr` is not a value of `escalation.person`",
        ),
        ("[questions]\ntimeout = \"soon\"\n", "\"soon\" is not a duration"),
        ("[adviser]\nround = 1\n", "did you mean `rounds`?"),
        ("[failures]\nmemory = \"of\"\n", "did you mean `off`?"),
        ("[failures]\nmemory = true\n", "must be text"),
        ("[failures]\nholdout = 1.5\n", "write a share from 0 to 1"),
        ("[failures]\nholdout = -0.1\n", "write a share from 0 to 1"),
        ("[failures]\ndeadline = \"1m\"\n", "at most 5 seconds"),
        ("[server]\non_disconnect = \"detatch\"\n", "did you mean `detach`?"),
        ("[server]\nlisten = \n", "helix.toml:2:"),
    ] {
        let found = problems(text);
        assert!(found.len() == 1 && found[0].contains(part), "{text:?}: {found:?}");
    }
}

/// What is near nothing is not told as if something else had been meant.
#[test]
fn a_word_that_is_near_none_gets_the_whole_list() {
    let found = problems("[agents.x]\ndialect = \"gemini\"\n");
    assert!(found[0].ends_with("hint: use one of: claude, codex, acp, command, replay"), "{found:?}");
}

#[test]
fn names_that_could_never_match_are_refused() {
    let hosts = ["http://host.docker.internal", "host.docker.internal:8787", "*"];
    let origins = ["chat.example", "https://chat.example/page", "https://*.example", "*", "null"];
    let wrong = hosts.map(|host| ("allowed_hosts", host)).into_iter();
    for (key, value) in wrong.chain(origins.map(|origin| ("allowed_origins", origin))) {
        let found = problems(&format!("[server]\n{key} = [{value:?}]\n"));
        assert!(found.len() == 1 && found[0].contains(value), "{found:?}");
    }
}

#[test]
fn the_file_says_how_chat_clients_are_served() {
    let config = served(
        "[server]\nrate_limit = 30\nclient = \"plain\"\non_disconnect = \"detach\"\nbackground_tasks = \"off\"\nbody_limit_mb = 2\n",
    );
    assert_eq!((config.rate_limit, config.client), (Some(30), Some(helix_server::Profile::Plain)));
    assert_eq!(config.disconnect, Disconnect::Detach);
    assert_eq!(config.background_tasks, helix_server::BackgroundTasks::Refuse);
    assert_eq!(config.body_limit, 2 * 1024 * 1024);
    assert_eq!(served("[server]\nrate_limit = 0\n").rate_limit, None);
    let grace = served("[server]\ndisconnect_grace = \"3s\"\nclient = \"auto\"\n");
    assert_eq!((grace.disconnect, grace.client), (Disconnect::StopAfter(Duration::from_secs(3)), None));
    let who = served(concat!(
        "[server]\nallowed_hosts = [\"host.docker.internal\"]\n",
        "allowed_origins = [\"https://chat.example/\", \"http://[::1]:3000\"]\n",
    ));
    assert_eq!(who.allowed_hosts, ["host.docker.internal"]);
    assert_eq!(
        (who.public_url, served("[server]\npublic_url = \"https://h.example/\"\n").public_url),
        (None, Some("https://h.example".into()))
    );
    assert_eq!(who.allowed_origins, ["https://chat.example", "http://[::1]:3000"]);
}

#[test]
fn the_stronger_file_wins_key_by_key() {
    let settings = of(&[
        "[failures]\nmemory = \"off\"\nholdout = 0\n\n[agents.claude]\nenv = { A = \"strong\" }\n",
        "[failures]\nmemory = \"on\"\nholdout = 0.25\ndeadline = \"500ms\"\n\n[agents.claude]\nmodel = \"m\"\nenv = { A = \"weak\", B = \"b\" }\n",
    ]);
    let deadline = Duration::from_millis(500);
    assert_eq!(settings.failures, FailureSettings { memory: MemoryUse::Off, holdout: Holdout::NONE, deadline });
    let claude = &settings.agents["claude"].value;
    assert_eq!(
        (claude.default_model.as_deref(), claude.env["A"].as_str(), claude.env["B"].as_str()),
        (Some("m"), "strong", "b")
    );
    let rows = settings.origins(&Environment::for_tests(), helix_language::Language::English);
    let origin = |key: &str| rows.iter().find(|row| row.key == key).map(|row| row.origin.as_str());
    assert_eq!(origin("failures.memory"), Some("/p0/helix.toml:2"));
    assert_eq!(origin("failures.deadline"), Some("/p1/helix.toml:4"));
    assert_eq!(origin("questions.timeout"), Some("built in"));
}

#[test]
fn without_a_word_the_consultant_advises_and_a_person_is_asked() {
    let settings = of(&["[consultant]\nmodel = \"opus\"\n"]);
    let adviser = Role { agent: "claude".into(), model: Some("opus".into()) };
    assert_eq!(settings.roles(), Roles { adviser: Some(adviser), ..Roles::default() });
    assert_eq!(settings.policy(), Policy::default());
    assert_eq!(of(&["[adviser]\nrounds = 0\n"]).roles().adviser, None);
    assert_eq!(of(&["[jobs]\nmax_wait = \"0s\"\n"]).policy().max_wait_seconds, Some(0));
}

#[test]
fn every_key_reaches_the_policy() {
    let settings = of(&[
        "[agents.other]\ndialect = \"claude\"\n[agents.third]\ndialect = \"claude\"\n[consultant]\nmodel = \"opus\"\n\
         [verifier]\nagent = \"other\"\nmodel = \"haiku\"\n[adviser]\nagent = \"third\"\nrounds = 1\n\
         [escalation]\nperson = \"never\"\n[questions]\ntimeout = \"never\"\n\
         [jobs]\nmax_turns = 5\nmax_tokens = 5_000_000_000\nmax_run_time = \"2h\"\nmax_wait = \"90m\"\nside_budget_usd = 0.5\n\
         retries = 7\nretry_delay = \"250ms\"\nretry_delay_max = \"2m\"\n",
    ]);
    let roles = settings.roles();
    assert_eq!(roles.verifier, Some(Role { agent: "other".into(), model: Some("haiku".into()) }));
    // The Consultant's model means nothing to another agent.
    assert_eq!(roles.adviser, Some(Role { agent: "third".into(), model: None }));
    let policy = settings.policy();
    assert_eq!(policy.escalation, Escalation { advice_rounds: 1, person: AskPerson::Never });
    assert_eq!((policy.question_seconds, policy.max_turns), (None, Some(5)));
    assert_eq!((policy.max_tokens, policy.max_run_seconds), (Some(5_000_000_000), Some(7200)));
    assert_eq!((policy.side_budget_usd, policy.max_wait_seconds), (Some(0.5), Some(5400)));
    assert_eq!((policy.transient_retries, policy.backoff_first_ms, policy.backoff_max_ms), (7, 250, 120_000));
}

#[test]
fn what_is_to_be_inherited_has_to_be_there() {
    for (text, part) in [
        ("[agents.claude]\ninherit = [\"everything\"]\n", "\"everything\" cannot be inherited"),
        ("[agents.claude]\ninherit = [\"mcp:helix\"]\n", "\"mcp:helix\" cannot be inherited"),
        ("[agents.claude]\ntools = { deny = [\"bash\"] }\n", "\"bash\" is not a rule for tools"),
    ] {
        let found = problems(text);
        assert!(found.len() == 1 && found[0].contains(part), "{text}: {found:?}");
    }
    for (text, part) in [
        ("[agents.claude]\ninherit = [\"mcp:tracker\"]\n", "there is no tool server tracker"),
        ("[agents.codex]\ninherit = [\"hooks\"]\n", "cannot take that over from agents of the dialect codex"),
        (
            "[agents.x]\ndialect = \"command\"\ncommand = [\"x\"]\ninherit = [\"rules\"]\n",
            "have no settings of their own",
        ),
    ] {
        let files = Files { files: vec![("/p0/helix.toml".into(), text.into())] };
        let error = Settings::put_together(&Environment::for_tests(), &Overrides::default(), files).unwrap_err();
        assert!(error.in_one_line().contains(part), "{text}: {}", error.in_one_line());
    }
    let rules =
        of(&["[agents.claude]\ntools = { allow = [\"web\"], deny = [\"read:.env\"], ask = [\"mcp:tracker\"] }\n"]);
    let tools = &rules.agents["claude"].value.tools;
    assert_eq!((tools.allow.len(), tools.deny[0].to_string(), tools.ask.len()), (1, "read:.env".to_owned(), 1));
}
