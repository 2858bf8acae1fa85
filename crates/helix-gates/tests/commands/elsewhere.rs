//! What leads to the user's work tree, which is not what is judged.

use super::*;

#[tokio::test]
async fn a_command_that_goes_to_the_users_work_tree_judges_nothing() {
    let bench = Bench::new(&[("a.txt", "a"), ("lib/b.txt", "b"), (".gitignore", "data.txt\n")]);
    let users = bench.home.path().canonicalize().unwrap().join("user");
    fs::write(users.join("data.txt"), "not committed").unwrap();
    let work = |tree: &Path| fs::write(tree.join("c.txt"), "c").unwrap();
    for path in ["a.txt", "lib/b.txt"] {
        let report = bench.check(&command(&format!("cat {}", users.join(path).display())), work).await;
        assert_eq!(short(&report), ["Environment"], "{report:#?}");
        let Verdict::Inconclusive { fault } = report.verdict else { panic!("{path}") };
        assert!(fault.message.contains(path) && fault.message.contains("your work tree"), "{fault:?}");
    }
    // What is ignored is not of the result, and closed all the same.
    let report = bench.check(&command(&format!("cat {}/data.txt", users.display())), work).await;
    assert_ne!(short(&report), ["pass"], "{report:#?}");
}

#[tokio::test]
async fn variables_that_lead_to_the_users_work_tree_lead_to_the_checkout() {
    let mut bench = Bench::new(&[("tools/which", "#!/bin/sh\necho committed\n")]);
    let users = bench.home.path().canonicalize().unwrap().join("user");
    let path = format!("{}:{}", users.join("tools").display(), std::env::var("PATH").unwrap());
    bench.environment = bench.environment.clone().with("PATH", path);
    fs::write(users.join("tools/which"), "#!/bin/sh\nexit 1\n").unwrap();
    let work = |tree: &Path| {
        use std::os::unix::fs::PermissionsExt;
        fs::write(tree.join("tools/which"), "#!/bin/sh\nexit 0\n").unwrap();
        fs::set_permissions(tree.join("tools/which"), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let report = bench.check(&command("which"), work).await;
    assert_eq!(short(&report), ["pass"], "{report:#?}");
}
