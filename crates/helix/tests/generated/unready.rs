//! What nobody has started or nobody can reach is named before an agent is paid.

use std::net::TcpListener;

use super::corner::{Corner, UNITTEST, Work, said};
use serde_json::json;

/// A test that asks the database of `.env`, as an application does.
const ASKS: &str = "import re\nimport socket\nimport unittest\n\n\nclass Database(unittest.TestCase):\n    def test_answers(self):\n        \
    host, port = re.search('@(.*):(.*)/', open('.env').read()).groups()\n        socket.create_connection((host, int(port))).close()\n";

fn with_database(port: u16) -> Corner {
    Corner::new(&[
        (".gitignore", ".env\n__pycache__/\n"),
        (".env", &format!("DATABASE_URL=postgres://app@127.0.0.1:{port}/app\n")),
        ("compose.yaml", &format!("services:\n  db:\n    image: postgres:17\n    ports:\n      - \"{port}:5432\"\n")),
        ("pyproject.toml", "[project]\nname = \"bill\"\nversion = \"0.1.0\"\n"),
        ("tests/test_database.py", ASKS),
    ])
}

/// Nothing but the Consultant has asked the model for anything.
fn nobody_was_paid(corner: &Corner) {
    let job = &corner.json(&["jobs", "list"])[0];
    assert_eq!((&job["status"], &job["phases"][0]["attempt"]), (&json!("failed"), &json!(0)), "{job:#}");
}

#[test]
fn a_database_that_nobody_has_started() {
    let port = {
        let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        free.local_addr().unwrap().port()
    };
    let corner = with_database(port);
    let gates = corner.init_says("compose.yaml: start what tests need before a job");
    let work = Work { passed: 2, gates: &["tests_pass: python3 -m unittest discover -s tests"], ..UNITTEST };
    let (output, _model) = corner.carry_out(&work, &gates);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(4), "{text}");
    for part in [&format!("at port {port} of this machine, where nobody listens")[..], "docker compose up -d db"] {
        assert!(text.contains(part), "{part:?} is missing: {text}");
    }
    nobody_was_paid(&corner);

    // Started, it is there for agents and gates.
    let database = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let answers = std::thread::spawn(move || while database.accept().is_ok_and(|(_, from)| from.ip().is_loopback()) {});
    corner.works(&work, &gates);
    drop(answers);
}

#[test]
fn a_registry_that_nobody_can_reach() {
    let corner = Corner::new(&[
        (".gitignore", "node_modules/\n"),
        (
            "package.json",
            "{ \"name\": \"app\", \"scripts\": { \"test\": \"node --test\" }, \"dependencies\": { \"left-pad\": \"^1.3.0\" } }\n",
        ),
        // Nobody listens there, and no network is asked.
        (".npmrc", "proxy=http://127.0.0.1:9\nhttps-proxy=http://127.0.0.1:9\nfetch-retries=0\n"),
    ]);
    let gates = corner.init();
    let (output, _model) = corner.carry_out(&UNITTEST, &gates);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(4), "{text}");
    for part in ["cannot reach registry.npmjs.org", "npm_config_registry"] {
        assert!(text.contains(part), "{part:?} is missing: {text}");
    }
    nobody_was_paid(&corner);
}

/// A clone without `--recursive`, and one in which nobody has run `git lfs pull`.
#[test]
fn a_submodule_and_a_file_of_lfs_that_nobody_has_fetched() {
    let reads = "import unittest\n\n\nclass Rate(unittest.TestCase):\n    def test_rate(self):\n        path = 'vendor/rates/rate.txt'\n        \
                 self.assertEqual(int(open(path).read().split()[-1] if 'version' not in open(path).read() else path), 7)\n";
    let project = ("pyproject.toml", "[project]\nname = \"bill\"\nversion = \"0.1.0\"\n");
    let submodule = Corner::new(&[project, ("tests/test_rate.py", reads)]);
    submodule.write(".gitmodules", "[submodule \"rates\"]\n\tpath = vendor/rates\n\turl = https://rates.invalid/\n");
    submodule.git(&["init", "-q", "-b", "main"]);
    let commit = "160000,1111111111111111111111111111111111111111,vendor/rates";
    submodule.git(&["update-index", "--add", "--cacheinfo", commit]);
    std::fs::create_dir_all(submodule.root().join("vendor/rates")).unwrap();
    let lfs = Corner::new(&[
        project,
        ("tests/test_rate.py", reads),
        ("vendor/.gitattributes", "*.txt filter=lfs\n"),
        (
            "vendor/rates/rate.txt",
            "version https://git-lfs.github.com/spec/v1\noid sha256:10159baf262b43a92d95db59dae1f72c645127301661e0a3ce4e38b295a97c58\nsize 2\n",
        ),
    ]);
    for (corner, what, remedy) in [
        (
            submodule,
            "`vendor/rates`, a submodule that is not in your repository",
            "git submodule update --init --recursive",
        ),
        (lfs, "`vendor/rates/rate.txt`, a file of Git LFS of which only the pointer is here", "git lfs pull"),
    ] {
        let gates = corner.init();
        let (output, _model) = corner.carry_out(&UNITTEST, &gates);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(4), "{text}");
        assert!(text.contains(what) && text.contains(remedy), "{text}");
        nobody_was_paid(&corner);
    }
}
