use super::*;

const MOUNTS: &str = "30 22 0:25 / /sys rw - sysfs sysfs rw\n\
                          41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";

#[test]
fn the_own_group_is_found_below_the_v2_mount() {
    let path = own_group(MOUNTS, "4:memory:/x\n0::/user.slice/helix.service\n");
    assert_eq!(path, Some(PathBuf::from("/sys/fs/cgroup/unified/user.slice/helix.service")));
    assert_eq!(own_group(MOUNTS, "0::/\n"), Some(PathBuf::from("/sys/fs/cgroup/unified")));
}

#[test]
fn a_group_outside_the_mounted_part_is_no_group() {
    let mounts = "41 31 0:38 /container /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    assert_eq!(own_group(mounts, "0::/elsewhere\n"), None);
    assert_eq!(own_group(MOUNTS, "4:memory:/x\n"), None);
}

#[test]
fn the_group_that_counts_processes_is_found_where_v2_does_not_count_them() {
    let mounts = "40 31 0:37 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                  41 31 0:38 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n";
    let found = counting_group(mounts, "9:name=systemd:/\n8:pids:/a\n0::/b\n");
    assert_eq!(found, Some(PathBuf::from("/sys/fs/cgroup/pids/a")));
    assert_eq!(counting_group(MOUNTS, "0::/\n"), None);
}
