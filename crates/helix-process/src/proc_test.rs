use super::*;

#[test]
fn a_process_name_with_brackets_and_spaces_does_not_shift_the_fields() {
    let text = b"42 (a) b (c)) S 7 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987654 1 2";
    let stat = Stat::parse(text).unwrap();
    assert_eq!((stat.state, stat.parent, stat.start_ticks), (b'S', 7, 987_654));
}

#[test]
fn only_the_whole_variable_is_a_mark() {
    assert_eq!(mark_in(b"A=1\0HELIX_RUN_DIR=r1\0B=2\0"), Some("r1".into()));
    assert_eq!(mark_in(b"XHELIX_RUN_DIR=r1\0HELIX_RUN_DIRS=r1\0HELIX_RUN_DIR\0"), None);
}

/// What looks as if it were changing forever would cost every command the whole bound.
#[test]
fn neither_a_thread_of_the_kernel_nor_a_program_without_environment_is_changing() {
    let mut bare = std::process::Command::new("sleep").arg("60").env_clear().spawn().unwrap();
    let pid = i32::try_from(bare.id()).unwrap();
    let is_changing = |pid| Stat::read(pid).is_some_and(|stat| stat.changing);
    // The parent may run on while its child still becomes `sleep`.
    let began = std::time::Instant::now();
    while is_changing(pid) && began.elapsed() < std::time::Duration::from_secs(30) {
        std::thread::yield_now();
    }
    assert!(!is_changing(pid), "a program without environment");
    assert!(!is_changing(i32::try_from(std::process::id()).unwrap()));
    assert!(!is_changing(2), "a thread of the kernel, or nobody in a container");
    bare.kill().unwrap();
    bare.wait().unwrap();
    assert!(!is_changing(pid), "nobody");
}

#[test]
fn an_identity_of_an_earlier_process_is_never_signalled() {
    let own = ProcessIdentity::read(i32::try_from(std::process::id()).unwrap()).unwrap();
    let earlier = ProcessIdentity { start_ticks: own.start_ticks + 1, ..own };
    assert_eq!(earlier.signal(Signal::KILL).unwrap(), Delivery::Gone);
}
