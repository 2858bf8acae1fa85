//! Sources that a parser would take all memory, stack or time for: the check says which file it is, and Helix goes on.

use std::fs;
use std::time::{Duration, Instant};

use crate::user::User;

/// A check ends after 10 s of processor time; the machine may have others to serve.
const LONGEST: Duration = Duration::from_secs(120);

const PARSED: &str =
    "name: one\nphases:\n  - { id: code, type: development, description: D, gates: [{ type: syntax_check }] }\n";

/// A user whose plan is this, in a repository that has these files besides.
fn user(plan: &str, files: &[(&str, &str)]) -> User {
    let user = User::new();
    user.write("phases.yaml", plan);
    for (path, text) in files {
        user.write(path, text);
    }
    user.repository();
    user
}

/// Runs the gates; the exit code and what was said.
fn gates_run(user: &User) -> (i32, String) {
    let begun = Instant::now();
    let ran = user.run(&["gates", "run"]);
    let took = begun.elapsed();
    assert!(took < LONGEST, "{took:?}: {ran:#?}");
    (ran.code, format!("{}{}", ran.stdout, ran.stderr))
}

#[test]
fn what_takes_too_much_to_parse_is_named() {
    let user = user(PARSED, &[]);
    let nested = |open: &str, close: &str| format!("{}1{}", open.repeat(200_000), close.repeat(200_000));
    let hostile = [
        ("deep.rs", format!("fn a() {{ {} }}", nested("{", "}"))),
        ("deep.ts", format!("type A = {}", nested("Array<", ">"))),
        ("deep.py", format!("a = {}", nested("(", ")"))),
        ("slow.html", "<div>".repeat(200_000)),
        ("slow.sh", "<<A\n".repeat(60_000)),
    ];
    for (path, text) in hostile {
        let file = user.write(path, &text);
        let (code, said) = gates_run(&user);
        // On a busy machine the time of the check may end before that of the processor.
        let named = ["it takes more than 1 GiB of memory", "with it, the sources of this check take too long"]
            .iter()
            .any(|why| said.contains(&format!("{path} cannot be checked: {why}")));
        // The parser of Python takes any depth, and says so.
        let parsed = path == "deep.py" && code == 0 && said.contains("1 file parses");
        assert!(parsed || named && code != 0, "{path}: {code}: {said}");
        fs::remove_file(file).unwrap();
    }
}

#[test]
fn large_sources_of_honest_people_are_checked() {
    let user = user(PARSED, &[]);
    let numbered = |count: u32, one: fn(u32) -> String| (0..count).map(one).collect::<String>();
    let python = numbered(12_000, |n| {
        format!(
            "def total_{n}(prices, discount=0):\n    return round(sum(prices) * (100 - discount) / 100, 2) + {n}\n\n"
        )
    });
    let minified =
        numbered(7_000, |n| format!("function f{n}(a,b){{return a&&b?[a,b,{n}].map((x)=>x*2):{{a,b,n:{n}}}}}"));
    let rust = numbered(8_000, |n| {
        format!("pub fn total_{n}(prices: &[u64]) -> u64 {{\n    prices.iter().sum::<u64>() + {n}\n}}\n\n")
    });
    let html = numbered(8_000, |n| format!("<div class=\"row\"><p>Price {n}: <b>{n}</b></p></div>\n"));
    assert!(python.len() > 1_000_000 && minified.len() > 400_000);
    for (path, text) in [("a.py", python), ("a.min.js", minified), ("a.rs", rust), ("a.html", html)] {
        user.write(path, &text);
    }
    let (code, said) = gates_run(&user);
    assert!(code == 0 && said.contains("4 files parse"), "{code}: {said}");
}

/// Whatever else reads sources, for what tests see or what they assert, is bounded alike.
#[test]
fn what_takes_too_much_beside_the_tests_is_named() {
    let plan = "name: one\nphases:\n  - { id: code, type: development, description: D, gates: [{ type: tests_pass, command: \"python3 -m unittest -v\" }] }\n";
    let test = "import unittest, prices\nclass Prices(unittest.TestCase):\n    def test_sum(self): self.assertEqual(prices.total([1, 2]), 3)\n";
    let user = user(plan, &[("prices.py", "def total(prices):\n    return 3\n"), ("test_prices.py", test)]);
    user.write("prices.py", "def total(prices):\n    return sum(prices)\n");
    let (code, said) = gates_run(&user);
    assert_eq!(code, 0, "{said}");
    let chain = format!("a{}", ".a".repeat(100_000));
    user.write("deep.py", &format!("def f(a):\n    assert {chain} == 3.75\n    return {chain}\n"));
    let (code, said) = gates_run(&user);
    assert!(code != 0 && said.contains("deep.py cannot be checked"), "{code}: {said}");
}
