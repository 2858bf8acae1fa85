//! The walls around a run, tried from inside by real processes under a real keeper. Each test tries the same without walls: what it
//! tries works there. A wall that this machine cannot have is not tried: the test says so, and the record has to.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and says what it does not try"
)]

mod bed;

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use bed::Bed;
use helix_agents::{Limits, Network, RunEnd, RunRequest, Walls};
use helix_core::run::{Ending, StopCause, Wall};
use helix_language::RECORD;

/// Whether `unshare`, which is none of Helix, gets the namespaces that the walls are made of.
fn has_namespaces() -> bool {
    let ways: [&[&str]; 2] = [&["--mount", "--net"], &["--user", "--map-root-user", "--mount", "--net"]];
    ways.iter().any(|way| Command::new("unshare").args(*way).arg("true").output().is_ok_and(|one| one.status.success()))
}

/// The kernel's version, such as (6, 12): what Landlock it has follows from that, unless it is switched off.
fn kernel() -> (u32, u32) {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse().ok());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

/// Whether this machine can have a wall, by other signs than Helix's own words.
fn machine_has(wall: Wall, walls: &Walls) -> bool {
    let landlock = |since| {
        // Containers often do not see the list of what is switched on.
        let on = fs::read_to_string("/sys/kernel/security/lsm").is_ok_and(|list| !list.contains("landlock"));
        kernel() >= since && !on
    };
    match (wall, &walls.network) {
        (Wall::Files, _) => landlock((5, 13)),
        (Wall::Signals, _) => landlock((6, 12)),
        (Wall::Network, Network::Ports(_)) => landlock((6, 7)),
        (Wall::Network, _) | (Wall::Sockets, _) => has_namespaces(),
        (Wall::Key, _) => true,
        // The processes of root are counted by a control group alone, and there is no sign of one but to make it.
        (Wall::Limits, _) => !rustix::process::geteuid().is_root(),
    }
}

/// Whether a wall held. One that did not is one that the machine cannot have, and the record says why.
fn held(end: &RunEnd, wall: Wall, asked: &Walls) -> bool {
    let walls = end.walls.as_ref().unwrap();
    if walls.holds(wall) {
        return true;
    }
    assert!(!machine_has(wall, asked), "this machine can have a wall around {wall}: {walls:?}");
    let why = walls.missing.iter().find(|one| one.wall == wall).map(|one| RECORD.words(&one.why)).unwrap_or_default();
    assert!(!why.is_empty(), "the record says why: {walls:?}");
    println!("NOT CHECKED, since this machine has no wall around {wall}: {why}");
    false
}

/// Runs a script that exits with 0 where it gets at what it tries, and with 7 where it does not: within walls, then without.
async fn withstood(bed: &Bed, wall: Wall, script: &str, change: impl FnOnce(&mut Walls)) -> RunEnd {
    let mut request = bed.script(&format!("( {script} ) && exit 0 || exit 7"));
    change(request.walls.as_mut().unwrap());
    let end = bed.run(&request).await;
    if held(&end, wall, request.walls.as_ref().unwrap()) {
        assert_eq!(end.ending, Ending::Exited { code: 7 }, "{script}: {end:?}");
    }
    let free = RunRequest { walls: None, ..bed.script(&request.invocation.args[1]) };
    assert_eq!(bed.run(&free).await.ending, Ending::Exited { code: 0 }, "without walls: {script}");
    end
}

#[tokio::test]
async fn files_that_a_run_was_not_given_can_be_neither_read_nor_written() {
    let bed = Bed::new();
    let root = bed.scratch.path().canonicalize().unwrap();
    let secret = root.join("secret");
    fs::write(&secret, "key").unwrap();
    fs::create_dir(root.join("outside")).unwrap();
    // Where `/tmp` is not covered it is Landlock that refuses; where it is, both do.
    let end = withstood(&bed, Wall::Files, &format!("cat {}", secret.display()), |_| {}).await;
    let walls = end.walls.unwrap();
    assert_eq!(walls.landlock > 0, walls.holds(Wall::Files), "{walls:?}");
    withstood(&bed, Wall::Files, &format!("echo x > {}/new", root.join("outside").display()), |_| {}).await;
    assert!(root.join("outside/new").exists(), "made without walls");
    // Its own run directory, by the name that stands in its environment, and those of others.
    withstood(&bed, Wall::Files, "cat $HELIX_RUN_DIR/request.json", |_| {}).await;
    withstood(&bed, Wall::Files, "ls $HELIX_RUN_DIR/..", |_| {}).await;
    withstood(&bed, Wall::Files, "echo x >> $HELIX_RUN_DIR/keeper.log", |_| {}).await;
    // Outside of what is covered, and below it: there, what is opened is mounted where the run may write.
    for place in [Path::new(env!("CARGO_TARGET_TMPDIR")), &std::env::temp_dir()] {
        let home = tempfile::tempdir_in(place).unwrap();
        fs::write(home.path().join("key"), "key").unwrap();
        withstood(&bed, Wall::Files, &format!("cat {}/key", home.path().display()), |_| {}).await;
        withstood(&bed, Wall::Files, &format!("ln -sfn {0}/key link; cat link", home.path().display()), |_| {}).await;
        withstood(
            &bed,
            Wall::Files,
            &format!("rm -f hard; ln {0}/key hard && cat hard", home.path().display()),
            |_| {},
        )
        .await;
        let readable = home.path().to_owned();
        let mut request = bed.script(&format!("cat {0}/key && ! echo x > {0}/new", home.path().display()));
        request.walls.as_mut().unwrap().readable.push(readable);
        assert_eq!(bed.run(&request).await.ending, Ending::Exited { code: 0 }, "what is opened can be read alone");
        // A place to write in, within what can be read.
        fs::create_dir(home.path().join("open")).unwrap();
        let mut request = bed.script(&format!("echo x > {0}/open/new && ! echo x > {0}/new", home.path().display()));
        let walls = request.walls.as_mut().unwrap();
        walls.readable.push(home.path().to_owned());
        walls.writable.push(home.path().join("open"));
        assert_eq!(bed.run(&request).await.ending, Ending::Exited { code: 0 }, "{}", place.display());
    }
}

#[tokio::test]
async fn neither_the_keeper_nor_another_process_can_be_signalled_or_looked_into() {
    let bed = Bed::new();
    let mut other = std::process::Command::new("sleep").arg("300").spawn().unwrap();
    for script in [
        format!("kill -0 {}", other.id()),
        format!("kill -STOP {0} && kill -CONT {0}", other.id()),
        "kill -0 $PPID".to_owned(),
        format!("cat /proc/{}/environ", other.id()),
        format!("ls /proc/{}/{}/", other.id(), "root"),
        format!("readlink /proc/{}/cwd", std::process::id()),
    ] {
        withstood(&bed, Wall::Signals, &script, |_| {}).await;
    }
    other.kill().unwrap();
    other.wait().unwrap();
    // The keeper of a run without walls is closed as well; root may look into everything.
    if !rustix::process::geteuid().is_root() {
        let free = RunRequest { walls: None, ..bed.script("cat /proc/$PPID/environ") };
        assert_eq!(bed.run(&free).await.ending, Ending::Exited { code: 1 });
    }
    let own = bed.script("sleep 300 & kill -0 $! && cat /proc/$!/environ > /dev/null && kill $!");
    assert_eq!(bed.run(&own).await.ending, Ending::Exited { code: 0 }, "its own processes are its own");
}

#[tokio::test]
async fn a_run_has_a_temporary_directory_of_its_own_that_goes_with_it() {
    let bed = Bed::new();
    let name = format!("helix-walls-{}", std::process::id());
    let own = "cd $TMPDIR && echo mine > mine && mkdir -p a/b && chmod 0 a && echo oops > /dev/stderr";
    let request = bed.script(&format!(
        "{own} && echo mine > /tmp/{name} && cat /tmp/{name} && echo x > /dev/shm/{name} && ! ls /run 2>/dev/null"
    ));
    let mut end = bed.run(&request).await;
    if !held(&end, Wall::Sockets, request.walls.as_ref().unwrap()) {
        end = bed.run(&bed.script(&format!("{own} && ! (echo x > /tmp/{name}) 2>/dev/null"))).await;
    }
    assert_eq!((&end.ending, end.stderr_tail.as_str()), (&Ending::Exited { code: 0 }, "oops\n"), "{end:?}");
    let left = ["/tmp", "/dev/shm"].map(|place| std::path::Path::new(place).join(&name));
    assert!(left.iter().all(|file| !file.exists()), "{left:?}");
    assert!(!bed.runs().join(request.run.as_str()).join("private").exists());
}

#[tokio::test]
async fn sockets_of_other_programs_are_out_of_reach() {
    let bed = Bed::new();
    let socket = bed.scratch.path().join("docker.sock");
    let _listening = UnixListener::bind(&socket).unwrap();
    withstood(&bed, Wall::Sockets, &format!("test -S {}", socket.display()), |_| {}).await;
}

/// Landlock keeps nobody from connecting to a socket by its path: in the place of what is hidden a run finds an empty directory, also of
/// a host that has come after it.
#[tokio::test]
async fn a_hidden_directory_is_empty_whatever_else_is_open() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let hidden = home.path().join("terminal");
    fs::create_dir(&hidden).unwrap();
    let socket = hidden.join("host.sock");
    let _listening = UnixListener::bind(&socket).unwrap();
    let bed = Bed::new();
    let sandbox = helix_agents::Sandbox {
        readable: vec![home.path().to_owned()],
        hidden: vec![hidden.clone(), home.path().join("none")],
        ..Default::default()
    };
    let bed = bed.within(sandbox);
    let (path, go) = (socket.display(), bed.work().join("go"));
    // Below `/tmp` the directory is not there at all.
    let script = format!("while [ ! -e go ]; do sleep 0.05; done; ! test -e {path}");
    let (handle, _) = bed.begun(&bed.script(&format!("echo up; {script}")), "up").await;
    fs::remove_file(&socket).unwrap();
    let _next = UnixListener::bind(&socket).unwrap();
    fs::write(go, "").unwrap();
    let end = handle.ended().await;
    assert_eq!(end.ending, Ending::Exited { code: 0 }, "{end:?}");
    assert!(end.walls.unwrap().holds(Wall::Sockets));
    let free = RunRequest { walls: None, ..bed.script(&script) };
    assert_eq!(bed.run(&free).await.ending, Ending::Exited { code: 1 }, "without walls it is there");
}

#[tokio::test]
async fn a_closed_network_is_closed_and_a_limited_one_has_the_named_ports() {
    let bed = Bed::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
    withstood(&bed, Wall::Network, &connect, |walls| walls.network = Network::Closed).await;
    withstood(&bed, Wall::Network, &connect, |walls| walls.network = Network::Ports(vec![1])).await;
    let mut named = bed.script(&connect);
    named.walls.as_mut().unwrap().network = Network::Ports(vec![port]);
    assert_eq!(bed.run(&named).await.ending, Ending::Exited { code: 0 });
}

#[tokio::test]
async fn a_run_that_starts_processes_without_end_reaches_its_limit() {
    let bed = Bed::new();
    let mut request = bed.script("i=0; while [ $i -lt 100 ]; do sleep 60 & i=$((i+1)); done; exit 0");
    request.walls.as_mut().unwrap().limits = Some(Limits { processes: 40, ..Limits::default() });
    let end = bed.run(&request).await;
    if held(&end, Wall::Limits, request.walls.as_ref().unwrap()) {
        assert_ne!(end.ending, Ending::Exited { code: 0 }, "{end:?}");
        assert!(end.leftovers_killed < 45, "{end:?}");
    }
    let mut big = bed.script("head -c 3000000 /dev/zero > big");
    big.walls.as_mut().unwrap().limits = Some(Limits { file_size: 1 << 20, ..Limits::default() });
    assert_ne!(bed.run(&big).await.ending, Ending::Exited { code: 0 });
    assert_eq!(fs::metadata(bed.work().join("big")).unwrap().len(), 1 << 20);
}

#[tokio::test]
async fn a_run_that_takes_more_memory_than_it_may_is_ended() {
    let bed = Bed::new();
    // `tail` keeps what has no line break.
    let takes = "head -c 300000000 /dev/zero | tail -n 1 | sleep 20";
    let mut request = bed.script(takes);
    request.walls.as_mut().unwrap().limits = Some(Limits { memory: 200 << 20, ..Limits::default() });
    let begun = std::time::Instant::now();
    let end = bed.run(&request).await;
    assert_eq!(end.stopped, Some(StopCause::Memory), "{end:?}");
    assert!(begun.elapsed().as_secs() < 15, "{:?}", begun.elapsed());
    let mut request = bed.script("head -c 30000000 /dev/zero | tail -n 1 | sleep 1");
    request.walls.as_mut().unwrap().limits = Some(Limits { memory: 200 << 20, ..Limits::default() });
    assert_eq!(bed.run(&request).await.ending, Ending::Exited { code: 0 });
}

/// Of the state directory it sees its own places, and takes nobody's rights to the others away.
#[tokio::test]
async fn the_state_directory_is_out_of_sight() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let bed = Bed::in_directory(&home.path().canonicalize().unwrap());
    let state = bed.runs().parent().unwrap().canonicalize().unwrap();
    fs::write(state.join("helix.db"), "journal").unwrap();
    let script = format!("test -e {0}/helix.db && chmod 600 {0}/helix.db", state.display());
    withstood(&bed, Wall::Sockets, &script, |_| {}).await;
    let own = bed.script("echo x > mine && cat mine && pwd");
    assert_eq!(bed.run(&own).await.ending, Ending::Exited { code: 0 }, "its own place is there");
    assert!(bed.work().join("mine").exists());
}

#[tokio::test]
async fn sockets_outside_of_what_a_run_was_given_answer_nothing() {
    let bed = Bed::new();
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let place = home.path().canonicalize().unwrap().join("socket");
    let _listener = UnixListener::bind(&place).unwrap();
    let connect = format!(
        "python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' {} 2>/dev/null",
        place.display()
    );
    withstood(&bed, Wall::Sockets, &connect, |_| {}).await;
    let mut given = bed.script(&connect);
    given.walls.as_mut().unwrap().readable.push(home.path().canonicalize().unwrap());
    assert_eq!(bed.run(&given).await.ending, Ending::Exited { code: 0 }, "what is opened answers");
}

/// Where no namespaces can be had, as in many containers, Landlock holds alone, and the record says what does not hold.
#[tokio::test]
async fn without_namespaces_files_are_closed_all_the_same_and_the_record_names_what_is_missing() {
    const BARRED: &str = "HELIX_TEST_BARRED";
    let name = "without_namespaces_files_are_closed_all_the_same_and_the_record_names_what_is_missing";
    if std::env::var_os(BARRED).is_none() {
        // A world of its own, in which nobody gets namespaces any more.
        let bar =
            "for kind in mnt net user; do echo 0 > /proc/sys/user/max_${kind}_namespaces || exit 99; done; exec \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "sh", "-c", bar, "sh"]).arg(std::env::current_exe().unwrap());
        let output = command.args(["--exact", name, "--nocapture"]).env(BARRED, "1").output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if said.contains("unshare: unshare failed") {
            println!("NOT CHECKED, since this machine lets nobody make a world without namespaces: {said}");
            return;
        }
        assert!(output.status.success(), "{said}");
        return;
    }
    assert!(!has_namespaces());
    let bed = Bed::new();
    let secret = bed.scratch.path().join("secret");
    fs::write(&secret, "key").unwrap();
    let end = withstood(&bed, Wall::Files, &format!("cat {}", secret.display()), |_| {}).await;
    let walls = end.walls.unwrap();
    let missing = walls.missing.iter().find(|one| one.wall == Wall::Sockets).unwrap();
    assert!(RECORD.words(&missing.why).contains("the system allows no namespaces"), "{walls:?}");
    let end = bed.run(&bed.script("echo x > $TMPDIR/mine && ! echo x > /tmp/helix-walls-barred")).await;
    assert_eq!(end.ending, Ending::Exited { code: 0 }, "{end:?}");
}
