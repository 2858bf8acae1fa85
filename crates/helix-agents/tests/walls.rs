//! The walls around a run, tried from inside by real processes under a real keeper. Each test tries the same without walls: what it
//! tries works there.

mod bed;

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use bed::Bed;
use helix_agents::{Limits, Network, RunEnd, RunRequest, Walls};
use helix_core::run::{Ending, Wall};

/// Runs a script that exits with 0 where it gets at what it tries, and with 7 where it does not: within walls, then without.
async fn withstood(bed: &Bed, script: &str, change: impl FnOnce(&mut Walls)) -> RunEnd {
    let mut request = bed.script(&format!("( {script} ) && exit 0 || exit 7"));
    change(request.walls.as_mut().unwrap());
    let end = bed.run(&request).await;
    assert_eq!(end.ending, Ending::Exited { code: 7 }, "{script}: {end:?}");
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
    // Where `/tmp` is not covered it is Landlock that refuses; here both do.
    let end = withstood(&bed, &format!("cat {}", secret.display()), |_| {}).await;
    let walls = end.walls.unwrap();
    assert!(walls.landlock > 0 && walls.holds(Wall::Files) && walls.holds(Wall::Signals), "{walls:?}");
    withstood(&bed, &format!("echo x > {}/new", root.join("outside").display()), |_| {}).await;
    assert!(root.join("outside/new").exists(), "made without walls");
    // Its own run directory, by the name that stands in its environment, and those of others.
    withstood(&bed, "cat $HELIX_RUN_DIR/request.json", |_| {}).await;
    withstood(&bed, "ls $HELIX_RUN_DIR/..", |_| {}).await;
    withstood(&bed, "echo x >> $HELIX_RUN_DIR/keeper.log", |_| {}).await;
    // A home that lies outside of what is covered.
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(home.path().join("key"), "key").unwrap();
    withstood(&bed, &format!("cat {}/key", home.path().display()), |_| {}).await;
    withstood(&bed, &format!("ln -s {0}/key link; cat link", home.path().display()), |_| {}).await;
    withstood(&bed, &format!("rm -f hard; ln {0}/key hard && cat hard", home.path().display()), |_| {}).await;
    let readable = home.path().to_owned();
    let mut request = bed.script(&format!("cat {0}/key && ! echo x > {0}/new", home.path().display()));
    request.walls.as_mut().unwrap().readable.push(readable);
    assert_eq!(bed.run(&request).await.ending, Ending::Exited { code: 0 }, "what is opened can be read alone");
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
        format!("ls /proc/{}/root/", other.id()),
        format!("readlink /proc/{}/cwd", std::process::id()),
    ] {
        withstood(&bed, &script, |_| {}).await;
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
    let request = bed.script(&format!(
        "echo mine > /tmp/{name} && cat /tmp/{name} && echo $TMPDIR && mkdir -p $TMPDIR/a/b && chmod 0 $TMPDIR/a && \
         echo x > /dev/shm/{name} && echo oops > /dev/stderr && ! ls /run 2>/dev/null"
    ));
    let end = bed.run(&request).await;
    assert_eq!(end.ending, Ending::Exited { code: 0 }, "{end:?}");
    assert_eq!(end.stderr_tail, "oops\n");
    assert!(end.walls.unwrap().holds(Wall::Sockets));
    assert!(
        !std::path::Path::new("/tmp").join(&name).exists() && !std::path::Path::new("/dev/shm").join(&name).exists()
    );
    assert!(!bed.runs().join(request.run.as_str()).join("private").exists());
}

#[tokio::test]
async fn sockets_of_other_programs_are_out_of_reach() {
    let bed = Bed::new();
    let socket = bed.scratch.path().join("docker.sock");
    let _listening = UnixListener::bind(&socket).unwrap();
    withstood(&bed, &format!("test -S {}", socket.display()), |_| {}).await;
}

#[tokio::test]
async fn a_closed_network_is_closed_and_a_limited_one_has_the_named_ports() {
    let bed = Bed::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'");
    let end = withstood(&bed, &connect, |walls| walls.network = Network::Closed).await;
    assert!(end.walls.unwrap().holds(Wall::Network));
    withstood(&bed, &connect, |walls| walls.network = Network::Ports(vec![1])).await;
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
    let walls = end.walls.clone().unwrap();
    assert!(walls.holds(Wall::Limits), "{walls:?}");
    assert_ne!(end.ending, Ending::Exited { code: 0 }, "{end:?}");
    assert!(end.leftovers_killed < 45, "{end:?}");
    let mut big = bed.script("head -c 3000000 /dev/zero > big");
    big.walls.as_mut().unwrap().limits = Some(Limits { file_size: 1 << 20, ..Limits::default() });
    assert_ne!(bed.run(&big).await.ending, Ending::Exited { code: 0 });
    assert_eq!(fs::metadata(bed.work().join("big")).unwrap().len(), 1 << 20);
}

/// What walls cost each start, on a machine that does nothing else: printed for people, and far below what they would notice.
#[tokio::test]
async fn walls_cost_little() {
    let bed = Bed::new();
    let mut best = [Duration::MAX; 2];
    for round in 0..60 {
        let mut request = bed.script("exit 0");
        let walled = round % 2;
        if walled == 0 {
            request.walls = None;
        }
        let began = Instant::now();
        bed.supervisor.start(request).await.unwrap().ended().await;
        best[walled] = best[walled].min(began.elapsed());
    }
    let [without, with] = best;
    println!("a run without walls: {without:?}, with: {with:?}");
    // The bar of 15 ms is one of optimised programs on a machine at rest; this one is neither.
    assert!(with < without + Duration::from_millis(60), "without {without:?}, with {with:?}");
}
