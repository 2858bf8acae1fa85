#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use helix_core::evidence::TestCounts;
use helix_process::CommandEnd;

use super::*;
use crate::test_run::{FailedTest, TestRun};

#[test]
fn drivers_name_the_port_that_nobody_listens_at() {
    for (line, port) in [
        ("connection to server at \"127.0.0.1\", port 5432 failed: connection refused", 5432),
        ("error: connect econnrefused 127.0.0.1:5432", 5432),
        ("dial tcp [::1]:6379: connect: connection refused", 6379),
        ("org.postgresql.util.psqlexception: connection to localhost:5433 refused.", 5433),
        ("can't connect to mysql server on '127.0.0.1:3306' (111)", 3306),
    ] {
        assert_eq!(ports_in(line).first(), Some(&port), "{line}");
    }
    assert!(ports_in("connect econnrefused 10.0.0.1:5432").is_empty());
    assert!(ports_in("connection refused (os error 111)").is_empty());
}

#[test]
fn ports_of_a_compose_file_are_those_of_this_machine() {
    let compose = "services:\n  db:\n    image: postgres\n    ports: ['5432:5432']\n  cache:\n    ports:\n      - \"127.0.0.1:6380:6379\"\n  \
                   queue:\n    ports:\n      - { published: 5673, target: 5672 }\n  web:\n    ports: [\"${WEB_PORT:-8081}:80\", \"9000\"]\n";
    let mut services = Services::default();
    services.add_composed(
        "services:\n  'db; curl https://x | sh #':\n    ports: ['5432:5432']\n  '--x':\n    ports: ['5433:5432']\n",
    );
    services.add_composed("services: [");
    services.add_composed("");
    assert!(services.composed.is_empty());
    services.add_composed(compose);
    let names: Vec<(u16, String)> = services.composed.into_iter().collect();
    let expected = [(5432, "db"), (5673, "queue"), (6380, "cache"), (8081, "web")];
    assert_eq!(names, expected.map(|(port, name)| (port, name.to_owned())));
}

fn services() -> Services {
    let mut services = Services::default();
    services.add_composed(
        "services:\n  search:\n    image: typesense\n    ports: ['8108:8108']\n  cache:\n    image: redis\n    ports: ['6379:6379']\n  api:\n    build: .\n    ports: ['8000:8000']\n",
    );
    services.add_settings(
        "export DATABASE_URL=\"postgresql+asyncpg://app:app@localhost:5544/app\"\n# OLD=redis://localhost:7001\nAPI_URL=http://localhost:4000\n\
         METRICS_PORT=9464\nPORT=9200\n",
    );
    services
}

/// Of a run in which as many tests passed, and one failed that said this.
fn suspects_of(output: &str, passed: u32, said: &str) -> Vec<(u16, String)> {
    let counts = TestCounts { passed, failed: 1, skipped: 0 };
    let failures = vec![FailedTest::new("one", None, &[said])];
    let run = TestRun { counts, failures, ..TestRun::default() };
    let baseline = Baseline::of_tests(CommandEnd::Exited(1), Some(run));
    let (said, some_work) = super::said(output, &baseline);
    Refused::by(&said, some_work).suspects(&services())
}

fn suspects(output: &str) -> Vec<(u16, String)> {
    suspects_of(output, 0, "")
}

#[test]
fn a_refused_connection_speaks_of_services_that_others_start() {
    for (output, port, name) in [
        ("psql: connection to server at \"127.0.0.1\", port 6379 failed: Connection refused", 6379, "Redis"),
        ("Error: connect ECONNREFUSED 127.0.0.1:5544", 5544, "PostgreSQL"),
        ("dial tcp [::1]:8108: connect: connection refused", 8108, "`search`"),
        ("Can't reach database server at `localhost:5544`\nat `localhost:5544`: ECONNREFUSED", 5544, "PostgreSQL"),
    ] {
        assert_eq!(suspects(output), [(port, name.to_owned())], "{output}");
        assert_eq!(suspects_of("", 1, output), [(port, name.to_owned())], "{output}");
        // A test passes, and none that fails says it.
        assert!(suspects_of(output, 1, "3 is not 4").is_empty(), "{output}");
    }
    // Without a port it is the database of the settings, if nothing works at all.
    let nowhere = "ConnectionRefusedError: [Errno 111] Connection refused";
    assert_eq!(suspects(nowhere), [(5544, "PostgreSQL".to_owned())]);
    assert!(suspects_of(nowhere, 1, nowhere).is_empty());
}

/// Where tests pass, what stands around them says nothing of registries and files either.
#[test]
fn where_tests_pass_only_those_that_fail_say_what_is_missing() {
    let counts = TestCounts { passed: 1, failed: 1, skipped: 0 };
    let failures = vec![FailedTest::new("one", None, &["3 is not 4"])];
    let run = TestRun { counts, failures, ..TestRun::default() };
    let noise = "npm warn ENOTFOUND registry.npmjs.org";
    for (passed, expected) in [(1, ("3 is not 4", true)), (0, (noise, false))] {
        let run = TestRun { counts: TestCounts { passed, ..counts }, ..run.clone() };
        let baseline = Baseline::of_tests(CommandEnd::Exited(1), Some(run));
        let (text, some_work) = super::said(noise, &baseline);
        assert_eq!((&*text, some_work), expected);
    }
}

#[test]
fn a_refusal_that_is_none_and_the_projects_own_server_stop_nothing() {
    for output in [
        "AssertionError: expected the login to be refused",
        "could not connect the two nodes: localhost:5432",
        "Error: connect ECONNREFUSED 127.0.0.1:8000",
        "Error: connect ECONNREFUSED 127.0.0.1:4000",
        "Error: connect ECONNREFUSED 127.0.0.1:9464",
        "Error: connect ECONNREFUSED 127.0.0.1:9200",
        // By custom alone it is nobody's: the work may be the server itself.
        "Error: connect ECONNREFUSED 127.0.0.1:5432",
        "Error: connect ECONNREFUSED 127.0.0.1:7001",
        "the loan was refused at localhost:5432",
    ] {
        assert!(suspects(output).is_empty(), "{output}");
    }
}

#[test]
fn a_path_is_named_as_a_whole() {
    let names = |text: &str, path: &str| named_in(text, path, Path::new("/checkout"));
    for text in [
        "cannot open 'lib/a.h'",
        "lib/a.h:3: error",
        "in ./lib: nothing",
        "/checkout/lib does not contain CMakeLists.txt",
    ] {
        assert!(names(text, "lib"), "{text}");
    }
    for text in
        ["/usr/lib/a.so", "mylib/a.h", "../lib/a.h", "src/lib/a.h", "no lib there", "lib.rs:3", "/other/checkout/lib/a"]
    {
        assert!(!names(text, "lib"), "{text}");
    }
    assert!(
        names("not a number: 'data/rate.csv'", "data/rate.csv") && names("cannot read data/rate.csv.", "data/rate.csv")
    );
    for text in ["'tests/data/rate.csv'", "rate.csv", "data/rate.csv.bak", "old-data/rate.csv"] {
        assert!(!names(text, "data/rate.csv"), "{text}");
    }
}

#[test]
fn a_registry_is_looked_for_in_variables_that_gates_get() {
    let fault = fault(FaultKind::Environment, recorded!("gate-registry-unreached", command = "tsc", host = "pypi.org"));
    let hint = fault.hint.unwrap();
    let words = hint.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let variables: Vec<&str> = words.filter(|word| word.contains('_')).collect();
    assert!(variables.len() >= 3 && variables.iter().all(|name| helix_process::is_toolchain(name)), "{variables:?}");
}
