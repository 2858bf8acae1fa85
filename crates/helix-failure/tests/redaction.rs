//! Secrets leave no text that Helix keeps or shows, and what only looks like one stays.

use helix_core::secrets::redact;
use proptest::prelude::*;

/// Texts with a secret each: text, the secret. Keys are put together here so that no scanner takes this file for a leak.
fn secrets() -> Vec<(String, String)> {
    let random = "Zx81kQ2mP0aLw93vB7nR5tY6uI4oE1sD8fGh";
    let hex = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b";
    let mut rows: Vec<(String, String)> = Vec::new();
    let prefixes = [
        "sk-ant-api03-",
        "sk-ant-oat01-",
        "sk-proj-",
        "sk-",
        "ghp_",
        "gho_",
        "ghs_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "npm_",
        "pypi-Ag",
        "hf_",
        "sk_live_",
        "rk_test_",
        "dckr_pat_",
        "hvs.",
        "gsk_",
        "AIza",
        "ya29.",
        "figd_",
    ];
    for prefix in prefixes {
        let key = format!("{prefix}{random}");
        rows.push((format!("request failed with {key} in it"), key.clone()));
        rows.push((format!("{{\"detail\":\"{key}\"}}"), key));
    }
    let key = format!("AKIA{}", "IOSFODNN7EXAMPLE");
    rows.push((format!("InvalidClientTokenId: {key}"), key));
    let jwt = format!("eyJhbGciOiJIUzI1NiJ9.{}.{random}", "eyJzdWIiOiIxMjM0NTY3ODkwIn0");
    rows.push((format!("jwt malformed: {jwt}"), jwt));
    let block = format!(
        "-----BEGIN {}-----\n{random}{random}\n{random}\nab==\n-----END {}-----",
        "RSA PRIVATE KEY", "RSA PRIVATE KEY"
    );
    rows.push((format!("key:\n{block}\nnext line"), random.into()));
    rows.push((format!("cut:\n-----BEGIN {}-----\n{random}{random}\n{random}", "PRIVATE KEY"), random.into()));
    rows.push((format!("{random}{random}\nab==\n-----END {}-----", "OPENSSH PRIVATE KEY"), random.into()));
    rows.push((
        format!("\"-----BEGIN {}-----\\n{random}\\n-----END {}-----\\n\"", "EC PRIVATE KEY", "EC PRIVATE KEY"),
        random.into(),
    ));
    for (form, value) in [
        ("Authorization: Bearer V", random),
        ("\"authorization\": \"Basic V\"", "dXNlcjpodW50ZXIy"),
        ("-H 'Authorization: token V'", hex),
        ("> Cookie: session=V; other=1", random),
        ("Set-Cookie: sid=V; Path=/", random),
        ("bearer V was refused", random),
        ("https://deploy:V@git.example/x.git", "hunter2"),
        ("postgres://app:V@db:5432/app", "p@ss-word"),
        ("redis://:V@cache:6379/0", "hunter2"),
        ("https://V@git.example/x.git", random),
        ("amqp://guest:V@mq//", "gu3st!"),
        ("https://x.example/?sig=V&se=1", random),
        ("GET /a?access_token=V HTTP/1.1", hex),
        ("DB_PASSWORD=V", "hunter2"),
        ("password: V", "hunter2"),
        ("password = \"V\"", "correct horse battery"),
        ("'password': 'V'", "swordfish"),
        ("Passwort: V", "Geheim1"),
        ("passphrase=V", "letmein"),
        ("Server=x;Pwd=V;Database=y", "hunter2"),
        ("API_KEY=V", "abcdef"),
        ("export GITHUB_TOKEN=V", hex),
        ("client_secret: V", random),
        ("\\\"api_key\\\":\\\"V\\\"", random),
        ("aws_secret_access_key = V", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("aws_session_token=V", "IQoJb3JpZ2luX2VjEJr//////////wEaCXVz"),
        ("//registry.example/:_authToken=V", hex),
        ("--token V --quiet", hex),
        ("--password V", "hunter22"),
        ("curl -u admin:V https://x", "s3cret"),
        ("machine x login y password V", "abc"),
        ("AccountKey=V;EndpointSuffix=core", "abc123DEF456ghi789JKL+/=="),
        ("private_key_id: V", hex),
        ("X-Api-Key: V", random),
    ] {
        rows.push((form.replacen('V', value, 1), value.into()));
    }
    rows
}

/// Lines of ordinary logs in which nothing is secret.
const ORDINARY: &[&str] = &[
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "request 3fa85f64-5717-4562-b3fc-2c963f66afa6 failed",
    "error: expected one of `,` or `}`, found token: identifier",
    "SyntaxError: Unexpected token: punc (})",
    "Password: ",
    "password: incorrect",
    "FATAL:  password authentication failed for user \"app\"",
    "token: expected `;`",
    "let token = lexer.next_token();",
    "password=os.environ[\"DB_PASSWORD\"]",
    "password: str = None",
    "secret: String,",
    "api_key: Optional[str] = None",
    "/home/dev/app/src/token.rs:3:4",
    "https://registry.example:8080/@scope/pkg",
    "ssh://git@host.example:22/x",
    "git@github.com:org/repo.git",
    "Unexpected token < in JSON at position 0",
    "PASSWORD=$DB_PASSWORD",
    "password: ${{ secrets.DB }}",
    "password=****",
    "bearer token is missing",
    "Basic authentication is required here",
    "error: the following required arguments: --token <TOKEN>",
    "missing api key: set ANTHROPIC_API_KEY",
    "docker run --user 1000:1000 x",
    "cache key: linux-node-9f86d081884c7d65",
    "primary key: id",
    "tokens: 14523 used of 200000",
    "eyJ is how they begin",
    "task-scheduler-something-longer-than-twenty",
    "secret \"db\" not found",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----",
    "msg_01AbCdEfGhIjKlMnOpQrStUv",
    "toolu_01AbCdEfGhIjKlMnOpQrStUv",
    "req_011CSHoEeqs5C35K2UUqR7Fy",
    "thread 'main' panicked at src/auth/password.rs:10:5:",
    "test auth::token::expires ... FAILED",
    "E0599: no method named `token`",
    "KeyError: 'password'",
    "npm error code E401",
    "keyword: value1",
    "sk-learn 1.2 is old",
];

#[test]
fn every_secret_goes_and_leaves_no_length() {
    let mut left = Vec::new();
    for (text, secret) in secrets() {
        let masked = redact(&text);
        if masked.contains(&secret) || !masked.contains("[secret]") {
            left.push(format!("{text:?} -> {masked:?}"));
        }
    }
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn ordinary_logs_stay_as_they_are() {
    let changed: Vec<_> =
        ORDINARY.iter().filter(|text| redact(text) != **text).map(|text| (*text, redact(text).into_owned())).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

/// Secrets that do not stand on one line: text, what of them must not stay.
fn split_secrets() -> Vec<(String, Vec<String>)> {
    let random = "Zx81kQ2mP0aLw93vB7nR5tY6uI4oE1sD8fGh";
    let line = |seed: usize| -> String {
        (0..76).map(|at| char::from(b"Qz7Lw2Xv9Kc4Jb6Hg8Fd1Sa3Pm5Yt0Ru"[(at * 7 + seed * 5 + at / 9) % 32])).collect()
    };
    let (first, second) = (line(1), line(2));
    let (begin, end) =
        (format!("-----BEGIN {}-----", "RSA PRIVATE KEY"), format!("-----END {}-----", "RSA PRIVATE KEY"));
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for before in ["| ", "│ ", "12 | ", "> ", "2026-11-22T10:00:00Z ", "[stderr] ", "#7 0.41 ", "+"] {
        rows.push((
            format!("{before}{begin}\n{before}{first}\n{before}{second}\n{before}{end}\n{before}done"),
            vec![first.clone(), second.clone()],
        ));
    }
    rows.push((format!("\"key\": \"{begin}\" +\n  \"{first}\" +\n  \"{second}\" +\n  \"{end}\""), vec![first.clone()]));
    for (form, value) in [
        ("Authorization:\n    Bearer V", random),
        ("authorization:\r\n\tBearer\r\n\tV", random),
        ("\"Authorization\": [\n    \"Bearer V\"\n  ]", random),
        ("api_key:\n  V\nnext: 1", random),
        ("client_secret: >-\n    V\n", random),
        ("\"token\":\n      \"V\"", random),
        ("machine git.example\n  login app\n  password V\n", "hunter2"),
        ("  password V", "hunter2"),
        ("Password:\n  V\nok", "hunter2"),
        ("{\"auths\": {\"r.example\": {\"auth\": \"V\"}}}", "dXNlcjpodW50ZXIy"),
        ("export AWS_SECRET_ACCESS_KEY=V", "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"),
        ("GET /v1/x?user=a&token=V HTTP/1.1", random),
        ("git clone https://oauth2:V@git.example/a.git", random),
    ] {
        rows.push((form.replacen('V', value, 1), vec![value.into()]));
    }
    // Broken at the width of a terminal, and by an encoder after 76 letters.
    let key = format!("sk-ant-api03-{random}");
    rows.push((format!("{{\"key\":\"{key}\n{first}\n{random}\",\n\"x\":1}}"), vec![first.clone(), random.into()]));
    rows.push((format!("ghp_{random}\n{first}"), vec![first.clone()]));
    rows.push((
        format!("secret_key: {first}\n  {second}\n  Zx8=\nnext"),
        vec![first.clone(), second.clone(), "Zx8=".into()],
    ));
    rows.push((format!("curl -H 'Authorization: Bearer {random}\\\n{first}'"), vec![first]));
    // Two bytes a letter, read as one.
    let wide = |text: &str| -> String { text.chars().flat_map(|letter| [letter, '\0']).collect() };
    rows.push((wide(&format!("token={key} was refused")), vec![key.clone(), wide(&key)]));
    rows
}

#[test]
fn secrets_over_several_lines_go_as_a_whole() {
    let mut left = Vec::new();
    for (text, parts) in split_secrets() {
        let masked = redact(&text).into_owned();
        if parts.iter().any(|part| masked.contains(part)) || !masked.contains("[secret]") {
            left.push(format!("{text:?} -> {masked:?}"));
        }
        assert_eq!(redact(&masked), masked, "{text:?}");
    }
    assert!(left.is_empty(), "{left:#?}");
}

/// What looks random and is none: digests, ids, public keys, encoded pictures, also below a secret.
#[test]
fn digests_ids_and_public_keys_stay() {
    let hex = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    for text in [
        format!("checksum = \"{hex}\""),
        "\"integrity\": \"sha512-4F5pQw5l0vXrTz8zYk0m7Qv8cB8Q2o1jv7m6gq0x3Wc1q9F3h0J8bS7d2k4l6n8p0r2t4v6x8z0A2C4E6G8I0g==\"".into(),
        "golang.org/x/sys v0.5.0 h1:MUK/U/4lj1t1oPg0HfuXDN/Z1wv31ZJ/YcPiGccS4DU=".into(),
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBV5bL0m6tQe1Qy9o0nT7v3mS2Xk9uR4wZ8pQ1aB2cD3 dev@host".into(),
        "<img src=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk\">".into(),
        format!("image shop@sha256:{hex}"),
        "pod shop-7d4b9c6f5d-x2x8k was evicted".into(),
        "01ARZ3NDEKTSV4RRFFQ69G5FAV".into(),
        "/nix/store/8vkzd6n0xk3y1s9q2w4e5r6t7y8u9i0o-shop-1.0/bin/shop".into(),
        "etag: \"33a64df551425fcc55e4d42a148795d9f25f89d4\"".into(),
        format!("Merge: 1f2e3d4c 5b6a7988\n{hex}\n{hex}"),
        "request-id: 3fa85f64-5717-4562-b3fc-2c963f66afa6".into(),
        "Password:\nPermission denied, please try again.".into(),
        "password incorrect".into(),
        "  password required".into(),
        "token:\n  expected `;`".into(),
        "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----".into(),
        format!("\"auth\": \"{}\"", "basic"),
    ] {
        assert_eq!(redact(&text), text);
    }
    // A digest below a secret is a line of its own.
    let below = format!("API_KEY=abcdefgh\n{hex}\n");
    assert_eq!(redact(&below), format!("API_KEY=[secret]\n{hex}\n"));
}

#[test]
fn what_stands_around_a_secret_stays() {
    assert_eq!(redact("PG_PASSWORD=hunter2 psql -c 'select 1'"), "PG_PASSWORD=[secret] psql -c 'select 1'");
    assert_eq!(
        redact("fatal: https://a:b2c@git.example/x.git not found"),
        "fatal: https://a:[secret]@git.example/x.git not found"
    );
    assert_eq!(
        redact("{\"password\": \"hunter2\", \"user\": \"app\"}"),
        "{\"password\": \"[secret]\", \"user\": \"app\"}"
    );
    let block = format!("a\n-----BEGIN {0}-----\nMIIEpAIBAAKCAQEAzzzzzzzz\n-----END {0}-----\nb", "PRIVATE KEY");
    assert_eq!(redact(&block), "a\n[secret]\nb");
}

/// The corpus' real logs contain no secrets: what little changes in them would be a false mask.
#[test]
fn real_logs_keep_their_cause_lines() {
    let corpus = include_str!("fixtures/failures/corpus.jsonl");
    let mut changed = Vec::new();
    for line in corpus.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let cause = case["labels"]["cause_line"].as_str().unwrap();
        if redact(cause) != cause {
            changed.push((cause.to_owned(), redact(cause).into_owned()));
        }
    }
    assert!(changed.is_empty(), "{changed:#?}");
}

/// Ten times the text takes about ten times as long: the worst texts for the forms, each a megabyte and more.
#[test]
fn long_texts_take_linear_time() {
    for piece in [
        "a",
        "password=",
        "eyJ",
        "-----BEGIN PRIVATE KEY-----",
        "AAAAAAAAAAAAAAAAAAAAAAAA\n",
        "://",
        "a:b@",
        "token:\"",
        "sk-ant-",
        "\\n\\n\\n",
    ] {
        let text = piece.repeat(400_000 / piece.len());
        let started = std::time::Instant::now();
        let masked = redact(&text);
        assert!(masked.len() <= text.len() * 2);
        assert!(started.elapsed().as_secs() < 20, "{piece:?}: {:?}", started.elapsed());
    }
}

fn fragments() -> impl Strategy<Value = String> {
    let rows: Vec<String> =
        secrets().into_iter().map(|(text, _)| text).chain(ORDINARY.iter().map(|text| (*text).to_owned())).collect();
    let part = prop_oneof![
        4 => prop::sample::select(rows.clone()),
        2 => (prop::sample::select(rows), any::<prop::sample::Index>()).prop_map(|(text, at)| {
            let letters: Vec<char> = text.chars().collect();
            letters[..at.index(letters.len())].iter().collect()
        }),
        1 => "[-=:\"'@/\\\\ a-zA-Z0-9_\\[\\]]{0,30}",
        1 => Just("[secret]".to_owned()),
        1 => "\\PC{0,20}",
    ];
    prop::collection::vec((part, prop_oneof![Just(""), Just(" "), Just("\n"), Just("="), Just("\"")]), 0..6)
        .prop_map(|parts| parts.into_iter().map(|(text, end)| text + end).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn masking_twice_changes_nothing_more(text in fragments()) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once).into_owned(), once);
    }

    #[test]
    fn a_secret_on_its_own_line_goes_whatever_stands_around(before in "\\PC{0,30}", at in any::<prop::sample::Index>(), after in "\\PC{0,30}") {
        let rows = secrets();
        let (text, secret) = &rows[at.index(rows.len())];
        let whole = format!("{before}\n{text}\n{after}");
        let masked = redact(&whole);
        prop_assert!(!masked.contains(secret.as_str()) || before.contains(secret.as_str()) || after.contains(secret.as_str()), "{}", masked);
    }
}
