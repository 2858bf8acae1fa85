//! Files of LFS: no two places have one file, none is copied twice for a checkout, and copying ends on cancel.

use super::*;

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;

use super::apart::read;

/// Whatever somebody does to the file in a work place, also through other names of it: neither the user's object nor another place has
/// anything of it.
#[test]
fn a_file_of_lfs_that_is_written_to_changes_no_other() {
    let bench = Bench::new();
    let text = "the whole picture\n";
    fs::write(bench.user().join(".gitattributes"), "*.bin filter=lfs -text\n").unwrap();
    let pointer = bench.object(text);
    for name in ["a.bin", "b.bin"] {
        fs::write(bench.user().join(name), &pointer).unwrap();
    }
    let base = bench.commit_all(&bench.user(), "with lfs");
    let digest = format!("{:x}", Sha256::digest(text));
    let object = bench.user().join(format!(".git/lfs/objects/{}/{}/{digest}", &digest[..2], &digest[2..4]));
    fs::set_permissions(&object, fs::Permissions::from_mode(0o444)).unwrap();
    let tree = bench.place(&base);
    let gate = bench.spaces.gate_checkout(&job(), &base).unwrap();
    // Through another name, and by a program that has it open from now on.
    fs::hard_link(tree.join("a.bin"), tree.join("other.txt")).unwrap();
    fs::set_permissions(tree.join("a.bin"), fs::Permissions::from_mode(0o666)).unwrap();
    fs::write(tree.join("other.txt"), "THE WHOLE PICTURE\n").unwrap();
    fs::hard_link(gate.join("a.bin"), gate.join("other.txt")).unwrap();
    let mut open = fs::File::options().write(true).open(gate.join("b.bin")).unwrap();
    std::io::Write::write_all(&mut open, b"THE").unwrap();
    for place in [&tree, &gate] {
        assert_eq!(fs::metadata(place.join("a.bin")).unwrap().nlink(), 2, "only the names made here");
    }
    assert_eq!((read(&object), fs::metadata(&object).unwrap().nlink()), (text.to_owned(), 1));
    assert_eq!(read(&tree.join("b.bin")), text);
    // Of what was touched, nothing is in the next checkout.
    let gate = bench.spaces.gate_checkout(&job(), &base).unwrap();
    std::io::Write::write_all(&mut open, b"THE").unwrap();
    for name in ["a.bin", "b.bin"] {
        assert_eq!((read(&gate.join(name)), fs::metadata(gate.join(name)).unwrap().nlink()), (text.to_owned(), 1));
    }
}

/// A checkout that is brought to another commit has the files that nobody touched as they were: also under another name, or with another
/// mode.
#[test]
fn a_file_of_lfs_is_copied_once_for_a_checkout() {
    let bench = Bench::new();
    let (same, pointer) = (bench.object("the same\n"), bench.object("the whole picture\n"));
    fs::write(bench.user().join(".gitattributes"), "*.bin filter=lfs -text\n").unwrap();
    fs::write(bench.user().join("a.bin"), &pointer).unwrap();
    fs::write(bench.user().join("same.bin"), &same).unwrap();
    let first = bench.commit_all(&bench.user(), "with lfs");
    fs::create_dir(bench.user().join("moved")).unwrap();
    fs::rename(bench.user().join("a.bin"), bench.user().join("moved/b.bin")).unwrap();
    fs::set_permissions(bench.user().join("same.bin"), fs::Permissions::from_mode(0o755)).unwrap();
    let second = bench.commit_all(&bench.user(), "moved");
    let inode = |path: PathBuf| fs::metadata(path).unwrap().ino();
    let gate = bench.spaces.gate_checkout(&job(), &first).unwrap();
    let before = (inode(gate.join("a.bin")), inode(gate.join("same.bin")));
    bench.spaces.gate_checkout(&job(), &second).unwrap();
    assert_eq!((inode(gate.join("moved/b.bin")), inode(gate.join("same.bin"))), before);
    assert_eq!(read(&gate.join("moved/b.bin")), "the whole picture\n");
    assert_eq!(fs::metadata(gate.join("same.bin")).unwrap().mode() & 0o111, 0o111);
    assert!(bench.spaces.touched(&gate).unwrap().is_empty() && !gate.join("a.bin").exists());
    // A link on the way leads to files of somebody else, which stay where they are.
    let outside = bench.home.path().join("outside");
    fs::rename(gate.join("moved"), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, gate.join("moved")).unwrap();
    bench.spaces.gate_checkout(&job(), &second).unwrap();
    assert!(outside.join("b.bin").exists() && !gate.join("moved").is_symlink());
    assert_ne!(inode(gate.join("moved/b.bin")), before.0);
}

/// Nobody waits for gigabytes that nobody wants; the next one finds the checkout whole.
#[test]
fn copying_files_of_lfs_ends_when_nobody_wants_them() {
    let bench = Bench::new();
    fs::write(bench.user().join(".gitattributes"), "*.bin filter=lfs -text\n").unwrap();
    let pointer = bench.object("the whole picture\n");
    fs::write(bench.user().join("a.bin"), &pointer).unwrap();
    let base = bench.commit_all(&bench.user(), "with lfs");
    let cancel = CancellationToken::new();
    cancel.cancel();
    let until = bench.spaces.until(&cancel);
    for _ in 0..2 {
        assert!(matches!(until.gate_checkout(&job(), &base), Err(helix_git::GitError::Cancelled)));
        assert!(matches!(until.prepare_attempt(&key("build"), &base), Err(helix_git::GitError::Cancelled)));
    }
    let gate = bench.spaces.gate_checkout(&job(), &base).unwrap();
    assert_eq!(read(&gate.join("a.bin")), "the whole picture\n");
    assert_eq!(read(&bench.place(&base).join("a.bin")), "the whole picture\n");
}

/// What is fetched later makes another checkout of the same tree.
#[test]
fn what_the_user_fetches_is_in_the_digest_of_what_commits_only_name() {
    let bench = Bench::new();
    let digest = || bench.spaces.digest_of_named().unwrap();
    let empty = digest();
    assert_eq!(digest(), empty);
    bench.object("the whole picture\n");
    let with_object = digest();
    assert_ne!(with_object, empty);
    let other = bench.other("other", "other\n");
    bench.add_submodule(&bench.user(), &other, "vendor/other");
    let with_submodule = digest();
    assert_ne!(with_submodule, with_object);
    fs::write(other.join("file.txt"), "newer\n").unwrap();
    bench.commit_all(&other, "newer");
    bench.git(&bench.user().join("vendor/other"), &["fetch", "-q"]);
    assert_ne!(digest(), with_submodule);
}
