//! The sandbox from outside: tried by `helix doctor --sandbox`, around an agent of a job, and configured by nobody but the user.

use crate::user::User;
use serde_json::Value;

#[test]
fn the_doctor_tries_every_wall() {
    let user = User::new();
    let ran = user.run(&["--json", "doctor", "--sandbox"]);
    let told: Value = ran.json();
    assert_eq!((ran.code, &told["ok"], &told["mode"]), (0, &true.into(), &"preferred".into()), "{told:#}");
    let tried = told["walls"].as_array().unwrap();
    assert!(tried.len() >= 10 && tried.iter().all(|one| one["withstood"] == true), "{told:#}");
    for wall in ["files", "signals", "network", "sockets", "limits"] {
        assert!(tried.iter().any(|one| one["wall"] == wall), "{wall}: {told:#}");
    }
}

#[test]
fn a_project_cannot_take_the_sandbox_down_and_its_user_can() {
    let user = User::new();
    user.write("helix.toml", "[sandbox]\nmode = \"off\"\n");
    let ran = user.run(&["doctor", "--sandbox"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("HX0908") && ran.stderr.contains("`sandbox.mode`"), "{ran:?}");
    let ran = user.run(&["--config", "helix.toml", "doctor", "--sandbox"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("The sandbox is off"), "{ran:?}");
}

/// A whole job: its agent and its gate try to read the host's token, and its evidence says what held them back.
#[test]
fn neither_the_agent_nor_the_gate_of_a_job_reads_the_state_directory() {
    let user = User::new();
    let (token, state) = (user.state().join("token"), user.state());
    let (token, state) = (token.display(), state.display());
    let tries = format!(
        "! cat {token} && ! cat {state}/helix.db && ! cat $HELIX_RUN_DIR/request.json && echo x > /tmp/mine && git log -1"
    );
    user.rehearse(&format!(
        "- {{key: a, repeat: true, actions: [{{write: {{path: a.txt, text: done}}}}, \
         {{run: {{command: [sh, -c, '{tries} && git add a.txt && git commit -qm own'], must_succeed: true}}}}, {{say: Done.}}]}}\n",
    ));
    let gate = format!("sh -c '{tries}'");
    let plan = format!(
        "name: p\nphases:\n  - id: a\n    type: development\n    description: do it\n    outputs: [a.txt]\n    gates: [{{ type: command, command: {gate:?} }}]\n",
    );
    user.write("plan.yaml", &plan);
    user.repository();
    let ran = user.run(&["run", "plan.yaml"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(user.state().join("token").exists(), "there is a token to read");
    let jobs = user.run(&["--json", "jobs"]).json();
    let evidence = user.run(&["jobs", "evidence", jobs[0]["id"].as_str().unwrap()]);
    assert!(evidence.stdout.matches("sandbox files, signals").count() >= 2, "{evidence:?}");
}

/// An agent whose interpreter the sandbox hides is not a missing command: it is there for the user.
#[test]
fn what_the_sandbox_hides_of_an_agent_is_told_as_that() {
    let user = User::new();
    let home = user.state().with_file_name("home");
    std::fs::create_dir_all(home.join("tool")).unwrap();
    std::fs::copy("/bin/sh", home.join("tool/sh")).unwrap();
    let agent = user.write("../agent/run", &format!("#!{}/tool/sh\necho hi\n", home.display()));
    std::fs::set_permissions(&agent, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let config = format!(
        "[defaults]\nagent = \"own\"\n[agents.own]\ndialect = \"command\"\ncommand = [{agent:?}]\n[sandbox]\nmode = \"required\"\n"
    );
    user.write("../home/.config/helix/helix.toml", &config);
    user.write("p.yaml", "name: p\nphases:\n  - { id: a, type: development, description: D, outputs: [a.txt], max_attempts: 1, on_failure: fail, gates: [{ type: files_exist }] }\n");
    user.repository();
    let ran = user.run(&["run", "p.yaml"]);
    assert_eq!(ran.code, 4, "{ran:#?}");
    let hidden = format!("the sandbox hides {}/tool/sh", home.display());
    assert!(ran.stdout.contains(&hidden) && ran.stdout.contains("`readable` in [sandbox]"), "{ran:#?}");
    assert!(ran.stdout.contains("sandbox closed") && !ran.stdout.contains("missing command"), "{ran:#?}");
    assert_eq!(ran.stdout.matches(&hidden).count(), 1, "{ran:#?}");
}
