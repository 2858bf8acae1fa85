use super::*;

fn resemblance(left: &str, right: &str) -> f64 {
    MessageTrigrams::new(left).resemblance(right)
}

#[test]
fn words_are_ascii_and_scripts_without_spaces_become_pairs() {
    assert_eq!(words("Cannot find `parse_it` in <path>: cannot"), ["cannot", "find", "parse_it", "in", "path"]);
    assert_eq!(words("文件不存在").len(), 4);
    assert_eq!(words("größer"), ["gru".to_owned() + "f6" + "udfer"]);
    assert!(words(&"x".repeat(500)).iter().all(|word| word.len() <= LONGEST_WORD));
    assert_eq!(words(" --- \u{0}"), Vec::<String>::new());
}

#[test]
fn resemblance_orders_messages_as_people_would() {
    let base = "cannot find function `parse` in this scope";
    assert!((resemblance(base, base) - 1.0).abs() < 1e-9);
    let near = resemblance(base, "cannot find function `print` in this scope");
    let far = resemblance(base, "connection refused by <n>");
    assert!(near > 0.7 && far < 0.2, "{near} {far}");
    assert_eq!(resemblance("", base), 0.0);
}
