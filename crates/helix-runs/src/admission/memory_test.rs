use super::*;

fn gauge(files: &[(&str, &str)]) -> (tempfile::TempDir, MemoryGauge) {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let gauge = MemoryGauge::below(root.path());
    (root, gauge)
}

#[test]
fn the_tightest_limit_counts() {
    let machine = ("proc/meminfo", "MemTotal:       8000 kB\nMemAvailable:    4000 kB\nBuffers: 1 kB\n");
    let (_root, alone) = gauge(&[machine]);
    assert_eq!(alone.available(), Some(4000 << 10));
    let own = ("proc/self/cgroup", "0::/box/inner\n");
    let (_root, limited) = gauge(&[
        machine,
        own,
        ("cgroup/box/memory.max", "3000000\n"),
        ("cgroup/box/memory.current", "2500000\n"),
        ("cgroup/box/memory.stat", "anon 1\ninactive_file 400000\n"),
        ("cgroup/box/inner/memory.max", "max\n"),
        ("cgroup/box/inner/memory.current", "7\n"),
    ]);
    assert_eq!(limited.available(), Some(900_000), "the group above has the limit");
    let (_root, unknown) = gauge(&[]);
    assert_eq!(unknown.available(), None);
}

#[test]
fn places_follow_from_cores_and_memory() {
    assert_eq!(agents_that_fit(2, Some(64 << 30)), 4);
    assert_eq!(agents_that_fit(64, Some(64 << 30)), 16);
    assert_eq!(agents_that_fit(8, Some(2 << 30)), 3);
    assert_eq!(agents_that_fit(8, Some(100 << 20)), 1);
    assert_eq!(agents_that_fit(8, None), 2);
}
