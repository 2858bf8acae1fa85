use super::*;

const KEY: &str = "kT9-zQ4_vWm7Lr2XsB8nYd3Hf6Jc1Pg5Ae0U";

fn known(value: &str) -> Secrets {
    Secrets::new([Secret { name: "API_KEY".into(), value: value.into() }])
}

fn masked(secrets: &Secrets, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    secrets.mask(&mut bytes);
    assert_eq!(bytes.len(), text.len(), "the length stays: {text}");
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_value_goes_in_every_form_that_programs_write() {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
    let password = r#"p"Q7/x\y+Z&9<k=2 é#v"#;
    for value in [KEY, password] {
        let secrets = known(value);
        let json = |text: &str| serde_json::to_string(text).unwrap();
        let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
        let percent: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let mut forms = vec![
            value.to_owned(),
            json(value),
            json(&json(value)),
            json(value).replace('/', "\\/"),
            value.chars().rev().collect(),
            hex.to_uppercase(),
            hex,
            percent.to_lowercase(),
            percent,
            value.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;"),
        ];
        for before in ["", "u", "us", "user:", "user1:"] {
            let text = format!("{before}{value}");
            forms.extend([STANDARD.encode(&text), URL_SAFE.encode(&text), URL_SAFE_NO_PAD.encode(&text)]);
            forms.push(STANDARD.encode(format!("{text}\n")));
        }
        for form in forms {
            if form.chars().rev().collect::<String>() == value && !value.is_ascii() {
                continue;
            }
            for (before, after) in [("", ""), ("key=", " and more"), ("\"", "\","), ("x\\n", "\\n")] {
                let shown = masked(&secrets, &format!("{before}{form}{after}"));
                let parts: Vec<char> = form.chars().collect();
                let left = parts.windows(9).find(|part| shown.contains(&part.iter().collect::<String>()));
                assert!(left.is_none(), "{form} in {before}…{after}: {shown}");
                assert!(shown.contains("[secret"), "{shown}");
            }
        }
    }
}

#[test]
fn a_line_of_json_stays_one() {
    let secrets = known(KEY);
    let tail = &KEY[10..];
    for text in [KEY.to_owned(), format!("a\n{KEY}\nb"), format!("\"{KEY}\""), format!("\\{KEY}\\"), format!("ü{KEY}")]
    {
        let line = serde_json::json!({ "a": [text, KEY], KEY: 1 }).to_string();
        let shown = masked(&secrets, &line);
        assert!(serde_json::from_str::<serde_json::Value>(&shown).is_ok(), "{shown}");
        assert!(!shown.contains(tail), "{shown}");
    }
    // A part that begins as an escape ends.
    let known = known("nB8-zQ4_vWm7Lr2XsB8nYd3Hf6Jc1Pg5Ae0\\");
    for line in
        [r#"{"a":"\nB8-zQ4_vWm7Lr2XsB8nYd3Hf6Jc1Pg5Ae0\\"}"#, r#"{"a":"\nB8-zQ4_vWm7Lr2XsB8nYd3Hf6Jc1Pg5Ae0\n"}"#]
    {
        let shown = masked(&known, line);
        assert!(serde_json::from_str::<serde_json::Value>(&shown).is_ok(), "{shown}");
        assert!(!shown.contains("Lr2X"), "{shown}");
    }
}

#[test]
fn a_value_that_is_cut_goes_too() {
    let secrets = known(KEY);
    for at in 16..KEY.len() - 2 {
        let (one, other) = KEY.split_at(at);
        let mut mask = LineMask::default();
        let mut lines = [format!("x {one}\n").into_bytes(), format!("  {other}\r\n").into_bytes()];
        lines.iter_mut().for_each(|line| assert!(mask.line(&secrets, line)));
        let shown = String::from_utf8(lines.concat()).unwrap();
        assert!(shown.contains("[secret API_KEY]"), "{shown}");
        assert!(!shown.contains(&other[..2]) && !shown.contains(&one[..4]), "{at}: {shown}");
        let shown = masked(&secrets, &format!("{{\"a\":\"{one}\\n{other}\"}}"));
        assert!(!shown.contains(&other[..2]), "{at}: {shown}");
    }
    assert_eq!(masked(&secrets, &KEY[..12]), &KEY[..12], "so little tells nothing");
}

#[test]
fn a_key_of_several_lines_goes_line_by_line() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\nVJTUt9Us8cKjMzEfYyjiWA4R4ypbHqGC0H0+tG3hGbN3MYHa\nJ4s1qz8k";
    let block = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
    let mut mask = LineMask::default();
    let shown = |mask: &mut LineMask, secrets: &Secrets| {
        let mut all = String::new();
        for line in block.split_inclusive('\n') {
            let mut line = line.as_bytes().to_vec();
            mask.line(secrets, &mut line);
            all.push_str(&String::from_utf8(line).unwrap());
        }
        all
    };
    for secrets in [Secrets::default(), known(&block)] {
        let shown = shown(&mut mask, &secrets);
        assert!(!body.lines().any(|line| shown.contains(line)), "{shown}");
        assert!(shown.starts_with("-----BEGIN") && shown.lines().count() == 5, "{shown}");
    }
    let line = serde_json::json!({ "file": block }).to_string();
    let shown = masked(&Secrets::default(), &line);
    assert!(!shown.contains("VJTUt9") && serde_json::from_str::<serde_json::Value>(&shown).is_ok(), "{shown}");
    // What comes after an end that was cut off is not taken for more of it.
    let mut line = b"error: could not compile `shop`\n".to_vec();
    let mut mask = LineMask::default();
    mask.line(&Secrets::default(), &mut b"-----BEGIN PRIVATE KEY-----\n".to_vec());
    assert!(!mask.line(&Secrets::default(), &mut line));
}

#[test]
fn words_of_everyday_texts_are_no_secrets() {
    for value in [
        "true",
        "production",
        "postgres",
        "changeme",
        "12345678",
        "127.0.0.1:8080",
        "/home/user/.ssh/key",
        "~/key.pem",
        "https://example.org/a",
        "us-east-1",
        "aaaaaaaaaaaa",
        "$TOKEN_FILE",
        "Bearer",
        "gpt-large",
    ] {
        assert!(is_trivial(value), "{value}");
    }
    for value in [
        KEY,
        "hunter2-hunter",
        "correcthorsebatterystaple",
        "postgres://app:Pa55w0rd@db/app",
        "s3cr3t-of-the-test-target",
    ] {
        assert!(!is_trivial(value), "{value}");
    }
}

#[test]
fn variables_are_secret_by_name_or_form() {
    let token = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL3nR6");
    let variables = [
        ("ANTHROPIC_API_KEY", KEY),
        ("DATABASE_URL", "postgres://app:Pa55w0rd-1@db.example.org/app"),
        ("SOMETHING", token.as_str()),
        ("PWD", "/home/user/project-7-b"),
        ("GIT_COMMIT", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-1/agent.7"),
        ("MAX_TOKENS", "200000000"),
        ("STAGE", "production-7"),
    ];
    let found: Vec<(String, String)> = of_variables(variables).into_iter().map(|one| (one.name, one.value)).collect();
    let wanted = [("ANTHROPIC_API_KEY", KEY), ("DATABASE_URL", "Pa55w0rd-1"), ("SOMETHING", token.as_str())];
    assert_eq!(found, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[test]
fn keys_of_known_forms_and_passwords_in_addresses_go() {
    let random = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL3nR6";
    let secrets = Secrets::default();
    for key in [
        format!("sk-ant-api03-{random}"),
        format!("ghp_{random}"),
        format!("github_pat_{random}"),
        format!("AKIA{}", "Q7W3E9R1T5Y8U2I4"),
        format!("xoxb-{random}"),
        format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{random}"),
    ] {
        for text in [format!("key {key}."), format!("{{\"a\":\"x\\n{key}\"}}"), format!("API={key}")] {
            let shown = masked(&secrets, &text);
            assert!(!shown.contains(&key[key.len() - 20..]) && shown.contains("[secret]"), "{shown}");
        }
    }
    assert_eq!(
        secrets.text("fatal: https://a:b2c4d6@git.example/x.git not found"),
        "fatal: https://a:******@git.example/x.git not found"
    );
    for text in [
        "https://user:$TOKEN@host/",
        "AKIAIOSFODNN7EXAMPLE",
        "a/sk-ant-lion-and-many-other-animals-of-the-wild".split_at(9).0,
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    ] {
        assert_eq!(secrets.text(text), text);
    }
}

#[test]
fn what_comes_in_fragments_is_held_back_until_it_is_known() {
    for (secrets, key) in
        [(known(KEY), KEY.to_owned()), (Secrets::default(), "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL3nR6".to_owned())]
    {
        let whole = format!("The key is {key}, and that is all. Keep it.");
        for size in 1..9 {
            let (mut held, mut shown) = (String::new(), String::new());
            let letters: Vec<char> = whole.chars().collect();
            for piece in letters.chunks(size) {
                held.extend(piece);
                let rest = held.split_off(secrets.open_end(&held));
                shown.push_str(&masked(&secrets, &held));
                held = rest;
            }
            shown.push_str(&masked(&secrets, &held));
            assert_eq!(shown, masked(&secrets, &whole), "in pieces of {size}");
            assert!(!shown.contains(&key[8..]), "{shown}");
        }
    }
}

/// Ten times the text takes about ten times as long, whatever is in it.
#[test]
fn long_texts_take_linear_time() {
    let secrets = known(KEY);
    for piece in [
        &KEY[..15],
        &KEY[8..14],
        "eyJ",
        "://a:",
        "ghp_",
        "-----BEGIN PRIVATE KEY-----",
        "AAAAAAAAAAAAAAAAAAAAAAAA\n",
        "a",
    ] {
        let mut text = piece.repeat(4_000_000 / piece.len()).into_bytes();
        let started = std::time::Instant::now();
        secrets.mask(&mut text);
        assert!(started.elapsed().as_secs() < 20, "{piece:?}: {:?}", started.elapsed());
    }
}
