#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;

/// All mistakes of a source, each as `line: after`.
fn all(code: Code, source: &str) -> Vec<String> {
    let lines = new_lines(None, source);
    let found = mutants(code, source, &lines).unwrap();
    for mutant in &found {
        let planted = mutant.planted(code, source);
        assert!(planted.is_some_and(|text| text != source), "{mutant:?} is no {code:?}");
    }
    found.into_iter().map(|mutant| format!("{}: {}", mutant.line, mutant.after)).collect()
}

#[test]
fn mistakes_of_python() {
    let source = "import os\nRATE = 19\n\ndef tax(cents: int = 3, gross=True):\n    \"\"\"Adds 1 and 1.\"\"\"\n    if cents <= 0 or not gross:\n        \
                  return None\n    if gross:\n        store.keep(cents)\n        log.info(1)\n    return cents * RATE // 100\n\nif __name__ == '__main__':\n    print(tax(1))\n";
    assert_eq!(
        all(Code::Python, source),
        [
            "2: RATE = 20",
            "4: def tax(cents: int = 4, gross=True):",
            "4: def tax(cents: int = 3, gross=False):",
            "6: if cents <= 0 and not gross:",
            "6: if cents < 0 or not gross:",
            "6: if cents <= 1 or not gross:",
            "8: if not (gross):",
            "9: pass",
            "10: log.info(2)",
            "11: return None",
            "11: return cents * RATE * 100",
            "11: return cents / RATE // 100",
            "11: return cents * RATE // 101",
        ]
    );
}

#[test]
fn mistakes_of_javascript_and_typescript() {
    let source = "export function add(a, b) {\n  if (a === null) { list.push(a); }\n  return ok(a) ? a + b : 0;\n}\n";
    let found = [
        "2: if (a !== null) { list.push(a); }",
        "2: if (a === null) { {} }",
        "3: return undefined;",
        "3: return !(ok(a)) ? a + b : 0;",
        "3: return ok(a) ? a - b : 0;",
        "3: return ok(a) ? a + b : 1;",
    ];
    assert_eq!(all(Code::JavaScript, source), found);
    let typed = source.replace("(a, b)", "(a: number, b: number): number");
    assert_eq!(all(Code::TypeScript, &typed).len(), found.len());
}

#[test]
fn mistakes_of_rust_leave_its_tests_alone() {
    let source = "pub fn total(all: &[u32]) -> u32 {\n    let mut sum = 0;\n    for one in all { sum += one; }\n    if sum > 9 { drop(sum); }\n    sum\n}\n\
                  #[cfg(test)]\nmod tests {\n    #[test]\n    fn one() { assert_eq!(super::total(&[1]), 1); }\n}\n";
    assert_eq!(
        all(Code::Rust, source),
        [
            "1: pub fn total(all: &[u32]) -> u32 { if \"helix\".len() == 5 { return Default::default(); }",
            "2: let mut sum = 1;",
            "3: for one in all { sum -= one; }",
            "4: if sum >= 9 { drop(sum); }",
            "4: if sum > 10 { drop(sum); }",
            "4: if sum > 9 { (); }",
        ]
    );
}

#[test]
fn only_lines_that_are_new_are_changed() {
    let (before, now) = ("def a():\n    return 1\n", "def a():\n    return 1\n\ndef b():\n    return 2\n");
    let lines = new_lines(Some(before), now);
    let found = mutants(Code::Python, now, &lines).unwrap();
    assert_eq!(found.iter().map(|one| one.line).collect::<Vec<_>>(), [5, 5]);
    assert!(mutants(Code::Python, "def (", &new_lines(None, "def (")).is_none());
}

/// Only what a program does when it is started itself is left out, not what hides behind a condition that names `__name__`.
#[test]
fn a_condition_that_names_the_module_hides_nothing() {
    let found = |source: &str| mutants(Code::Python, source, &new_lines(None, source)).unwrap().len();
    assert_eq!(found("if __name__ == '__main__':\n    print(1 + 2)\n"), 0);
    assert!(found("if __name__ != '':\n    def total(a, b):\n        return a + b\n") > 0);
    assert!(found("if __name__ == '__main__':\n    pass\nelse:\n    RATE = 1 + 2\n") > 0);
}

/// A generated file in one line is read once, and each mistake in it is shown where it is.
#[test]
fn one_long_line_takes_no_longer_than_many_short_ones() {
    let source = format!("x = [{}]\n", (0..60_000).map(|number| format!("{number}, ")).collect::<String>());
    let begun = std::time::Instant::now();
    let found = mutants(Code::Python, &source, &new_lines(None, &source)).unwrap();
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
    let mutant = found.iter().find(|mutant| &source[mutant.range.clone()] == "45678").unwrap();
    assert!(mutant.before.contains(" 45678, ") && mutant.after.contains(" 45679, "), "{mutant:?}");
}

/// As many values as a table has that was generated, in one line.
#[test]
fn a_long_line_takes_no_longer_than_many_short_ones() {
    let source = format!("pub const A: [u32; 60000] = [{}];\n", "1, ".repeat(60_000));
    // Of this thread alone: the machine may be busy.
    let processor_time = || -> u64 {
        let spent = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        spent.split(' ').next().unwrap().parse().unwrap()
    };
    let begun = processor_time();
    assert_eq!(mutants(Code::Rust, &source, &BTreeSet::from([1])).unwrap().len(), 60_000);
    let spent = processor_time() - begun;
    assert!(spent < 8_000_000_000, "{spent} ns");
}
