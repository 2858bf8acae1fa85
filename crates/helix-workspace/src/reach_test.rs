#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use super::*;

fn found(output: &str, variables: &[(&str, &str)]) -> Option<String> {
    unreached_registry(output, variables.iter().copied())
}

#[test]
fn a_registry_that_gave_no_answer_is_named() {
    for (output, host) in [
        (
            "npm error code ENOTFOUND\nnpm error request to https://registry.npmjs.org/vite failed, reason: getaddrinfo ENOTFOUND registry.npmjs.org",
            "registry.npmjs.org",
        ),
        ("All attempts to connect to pypi.org failed.", "pypi.org"),
        (
            "error: Failed to fetch: `https://pypi.org/simple/pytest/`\n  Caused by: dns error\n  dns error: failed to lookup address: pypi.org",
            "pypi.org",
        ),
        ("  [6] Could not resolve hostname (Could not resolve host: index.crates.io)", "index.crates.io"),
        (
            "go: example.com/a@v1: Get \"https://proxy.golang.org/x\": dial tcp: lookup proxy.golang.org: no such host",
            "proxy.golang.org",
        ),
        (
            "[ERROR] Could not transfer artifact a:b:pom:1 from/to central (https://repo.maven.apache.org/maven2): Unknown host repo.maven.apache.org",
            "repo.maven.apache.org",
        ),
        (
            "WARNING: Retrying (Retry(total=0)) after connection broken by 'NameResolutionError(\"HTTPSConnection(host='pypi.org', port=443): Failed to resolve 'pypi.org' ([Errno -2] Name or service not known)\")': /simple/six/\nERROR: Could not find a version that satisfies the requirement six (from versions: none)\nERROR: No matching distribution found for six",
            "pypi.org",
        ),
        (
            "If you are offline or behind a proxy, set HTTPS_PROXY so Next.js can reach fonts.googleapis.com.",
            "fonts.googleapis.com",
        ),
    ] {
        assert_eq!(found(output, &[]).as_deref(), Some(host), "{output}");
    }
    let mirror = [("PIP_INDEX_URL", "https://me:secret@mirror.example.org:8443/simple")];
    let refused = "Connection to mirror.example.org timed out: Failed to establish a new connection";
    assert_eq!(found(refused, &mirror).as_deref(), Some("mirror.example.org"));
    assert_eq!(found(refused, &[]), None);
}

#[test]
fn what_tests_say_of_other_hosts_or_of_a_registry_that_answers_is_none() {
    for output in [
        "AssertionError: getaddrinfo ENOTFOUND api.example.com",
        "npm error 404 Not Found - GET https://registry.npmjs.org/no-such-package",
        "getaddrinfo ENOTFOUND mypypi.org.example.com",
        "connect ECONNREFUSED 127.0.0.1:5432",
        "",
    ] {
        assert_eq!(found(output, &[]), None, "{output}");
    }
}

#[test]
fn a_registry_of_this_machine_is_known_by_its_port() {
    for address in
        ["http://localhost:4873/", "http://me:secret@LOCALHOST:4873", "http://[::1]:4873/npm", "http://127.0.0.1:4873"]
    {
        let variables = [("NPM_CONFIG_REGISTRY", address)];
        for output in [
            "connect ECONNREFUSED 127.0.0.1:4873",
            "connect ECONNREFUSED ::1:4873",
            "ECONNREFUSED http://localhost:4873/vite",
        ] {
            let host = found(output, &variables).unwrap_or_else(|| panic!("{address}: {output}"));
            assert!(host.ends_with(":4873"), "{host}");
        }
        for output in
            ["connect ECONNREFUSED 127.0.0.1:5432", "ECONNREFUSED localhost", "connect ECONNREFUSED [::1]:48730"]
        {
            assert_eq!(found(output, &variables), None, "{address}: {output}");
        }
    }
    let plain = [("PIP_INDEX_URL", "http://[::1]/simple")];
    assert_eq!(found("connect ECONNREFUSED ::1:80", &plain).as_deref(), Some("[::1]:80"));
    let upper = [("PIP_INDEX_URL", "https://Mirror.Example.ORG/simple")];
    assert_eq!(found("getaddrinfo ENOTFOUND mirror.example.org", &upper).as_deref(), Some("mirror.example.org"));
}

#[test]
fn what_a_tool_warns_of_and_goes_on_from_is_no_cause() {
    for passed_over in [
        "npm warn registry GET https://registry.npmjs.org/vite failed: ECONNRESET",
        "npm http fetch GET https://registry.npmjs.org/vite error ECONNRESET, retrying",
        "WARNING: Retrying (Retry(total=4, connect=None)) after connection broken by 'NameResolutionError(\"pypi.org\": name or service not known)': /simple/six/",
        "warning: spurious network error (3 tries remaining): [6] Could not resolve hostname (Could not resolve host: index.crates.io)",
        "\u{a0}WARN\u{a0} GET https://registry.npmjs.org/vite error (ENOTFOUND). Will retry in 10 seconds. 2 retries left.",
        "Retrying fetcher due to error (2/4): Bundler::HTTPError Could not fetch specs from https://rubygems.org/ (getaddrinfo)",
        "[WARNING] Could not transfer artifact a:b:pom:1 from/to central (https://repo.maven.apache.org/maven2): Connection reset",
        "2026-01-01T12:00:00Z WARN fetching https://pypi.org/simple: dns error",
    ] {
        let failed = format!("{passed_over}\nerror: cannot compile src/lib.c\n");
        assert_eq!(found(&failed, &[]), None, "{passed_over}");
        // Ended while it tried, or without another word.
        assert!(found(&format!("downloads\n{passed_over}\n\n"), &[]).is_some(), "{passed_over}");
    }
    let gave_up = "warning: spurious network error (1 try remaining): [6] Could not resolve host: index.crates.io\n\
                   error: failed to get `a`\n\nCaused by:\n  [6] Could not resolve hostname (Could not resolve host: static.crates.io)\nhelp: see above";
    assert_eq!(found(gave_up, &[]).as_deref(), Some("static.crates.io"));
}

/// Each as the documentation of the tool writes it.
#[test]
fn registries_are_known_by_the_variables_of_every_tool() {
    for (name, value) in [
        ("UV_INDEX", "https://other.example.org/simple own=https://me:secret@mirror.example.org/simple"),
        ("UV_INDEX_URL", "https://mirror.example.org/simple"),
        ("UV_DEFAULT_INDEX", "own=https://mirror.example.org/simple"),
        ("UV_EXTRA_INDEX_URL", "https://other.example.org https://mirror.example.org/simple"),
        ("PIP_EXTRA_INDEX_URL", "https://other.example.org/simple\nhttps://mirror.example.org/simple"),
        ("PIPENV_PYPI_MIRROR", "https://mirror.example.org/simple"),
        ("PDM_PYPI_URL", "https://mirror.example.org/simple"),
        ("npm_config_registry", "https://mirror.example.org/"),
        ("npm_config_@own:registry", "https://mirror.example.org/"),
        ("YARN_REGISTRY", "https://mirror.example.org"),
        ("YARN_NPM_REGISTRY_SERVER", "https://mirror.example.org"),
        ("COREPACK_NPM_REGISTRY", "https://mirror.example.org"),
        ("BUN_CONFIG_REGISTRY", "https://mirror.example.org"),
        ("GOPROXY", "https://other.example.org|https://mirror.example.org,direct"),
        ("CARGO_REGISTRIES_OWN_INDEX", "sparse+https://mirror.example.org/index/"),
        ("BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/", "https://mirror.example.org"),
        ("BUNDLE_MIRROR__ALL", "https://mirror.example.org"),
        ("PUB_HOSTED_URL", "https://mirror.example.org"),
        ("HEX_MIRROR", "https://mirror.example.org"),
    ] {
        let unreached = "error: getaddrinfo ENOTFOUND mirror.example.org";
        assert_eq!(found(unreached, &[(name, value)]).as_deref(), Some("mirror.example.org"), "{name}={value}");
    }
    for name in ["CARGO_REGISTRIES_OWN_TOKEN", "DATABASE_URL", "BUNDLE_GEMFILE", "ELASTIC_INDEX_URL"] {
        assert_eq!(found("getaddrinfo ENOTFOUND db.example.org", &[(name, "https://db.example.org")]), None, "{name}");
    }
}
