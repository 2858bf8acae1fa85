use super::*;

fn single(line: &str) -> Vec<String> {
    words(line).into_iter().filter(|word| !word.contains('_')).collect()
}

#[test]
fn what_varies_is_left_out_and_names_of_classes_are_split() {
    assert_eq!(
        single("ModuleNotFoundError: No module named 'shop'"),
        ["error", "found", "module", "named", "no", "not", "§name"]
    );
    assert_eq!(single("can't open ./src/a.rs:12 (errno 2)"), ["can", "errno", "open", "§number", "§path"]);
    assert_eq!(single("error[E0308]: `x' is 3.14"), ["e0308", "error", "is", "§name", "§number"]);
    assert!(words("not found").contains("not_found"));
    assert_eq!(single("没有那个文件"), ["个文", "文件", "有那", "没有", "那个"]);
    assert!(words("").is_empty());
}
