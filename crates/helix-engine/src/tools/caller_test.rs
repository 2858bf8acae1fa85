use super::*;

#[test]
fn the_project_of_a_run_is_not_looked_for_above_its_directory() {
    let place = tempfile::tempdir().unwrap();
    let (outer, work) = (place.path(), place.path().join("state/worktrees/job"));
    std::fs::create_dir_all(work.join("src")).unwrap();
    std::fs::create_dir(outer.join(".git")).unwrap();
    assert_eq!(project_above(&work.join("src"), None).as_deref(), Some(outer));
    assert_eq!(project_above(&work.join("src"), Some(&work)), None);
    std::fs::create_dir(work.join("adr")).unwrap();
    assert_eq!(project_above(&work.join("src"), Some(&work)), Some(work));
}
