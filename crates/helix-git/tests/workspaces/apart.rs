//! What commits name and do not hold: files of submodules, and of Git LFS. Both are written by anybody.

use super::*;

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

use helix_core::ids::CommitId;
use sha2::{Digest as _, Sha256};

impl Bench {
    pub(super) fn commit_all(&self, directory: &Path, message: &str) -> CommitId {
        self.git(directory, &["add", "-A"]);
        self.git(directory, &["commit", "-qm", message]);
        CommitId::new(self.git(directory, &["rev-parse", "HEAD"])).unwrap()
    }

    /// Another repository with a file in it.
    pub(super) fn other(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.path().join(name);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("file.txt"), text).unwrap();
        self.git(&path, &["init", "-q"]);
        self.commit_all(&path, "first");
        path
    }

    pub(super) fn add_submodule(&self, directory: &Path, of: &Path, at: &str) {
        let of = of.display().to_string();
        self.git(directory, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", &of, at]);
    }

    pub(super) fn place(&self, start: &CommitId) -> PathBuf {
        self.spaces.prepare_attempt(&key("build"), start).unwrap().path
    }

    /// An object of LFS in the user's repository, and the pointer to it.
    pub(super) fn object(&self, content: &str) -> String {
        let digest = format!("{:x}", Sha256::digest(content));
        let place = self.user().join(format!(".git/lfs/objects/{}/{}", &digest[..2], &digest[2..4]));
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join(&digest), content).unwrap();
        pointer(&digest, content.len())
    }
}

fn pointer(digest: &str, size: usize) -> String {
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {size}\n")
}

pub(super) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// A user's repository with the submodule `vendor/outer`, which has the submodule `deep/inner`.
fn with_submodules(bench: &Bench) -> CommitId {
    let inner = bench.other("inner", "inner\n");
    let outer = bench.other("outer", "outer\n");
    bench.add_submodule(&outer, &inner, "deep/inner");
    bench.commit_all(&outer, "with inner");
    bench.add_submodule(&bench.user(), &outer, "vendor/outer");
    let update = ["-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init", "--recursive"];
    bench.git(&bench.user(), &update);
    bench.commit_all(&bench.user(), "with outer")
}

#[test]
fn submodules_are_filled_in_each_other_and_results_name_their_commits() {
    let bench = Bench::new();
    let base = with_submodules(&bench);
    // Nothing of their own repositories counts but objects.
    let modules = bench.user().join(".git/modules/vendor/outer");
    let ran = bench.home.path().join("ran");
    bench.git(&modules, &["config", "core.fsmonitor", &format!("touch '{}'", ran.display())]);
    bench.git(&modules, &["config", "filter.evil.smudge", &format!("touch '{}'", ran.display())]);
    fs::write(modules.join("info/attributes"), "* filter=evil\n").unwrap();

    let tree = bench.place(&base);
    assert_eq!(read(&tree.join("vendor/outer/file.txt")), "outer\n");
    assert_eq!(read(&tree.join("vendor/outer/deep/inner/file.txt")), "inner\n");
    assert_eq!(bench.git(&tree, &["status", "--porcelain"]), "");
    // What an agent changes in one is in no result: its own repository is another one.
    fs::write(tree.join("vendor/outer/file.txt"), "changed\n").unwrap();
    fs::write(tree.join("vendor/outer/new.txt"), "new\n").unwrap();
    fs::write(tree.join("src/b.txt"), "b\n").unwrap();
    let committed = bench.spaces.commit_attempt(&key("build"), &base, &base, &text()).unwrap().committed;
    let changed: Vec<&str> = committed.changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(changed, ["src/b.txt"]);

    let gate = bench.spaces.gate_checkout(&job(), &committed.commit).unwrap();
    assert_eq!(read(&gate.join("vendor/outer/file.txt")), "outer\n");
    assert!(bench.spaces.touched(&gate).unwrap().is_empty());
    // Another commit, and whatever a command has left.
    fs::write(gate.join("vendor/outer/file.txt"), "changed\n").unwrap();
    fs::write(gate.join("vendor/outer/left.txt"), "left\n").unwrap();
    let gate = bench.spaces.gate_checkout(&job(), &base).unwrap();
    assert_eq!(read(&gate.join("vendor/outer/file.txt")), "outer\n");
    assert!(!gate.join("vendor/outer/left.txt").exists() && !ran.exists());
}

#[test]
fn a_link_in_the_place_of_a_submodule_leads_nowhere() {
    let bench = Bench::new();
    let other = bench.other("other", "other\n");
    bench.add_submodule(&bench.user(), &other, "vendor/other");
    let base = bench.commit_all(&bench.user(), "with other");
    let gate = bench.spaces.gate_checkout(&job(), &base).unwrap();
    let outside = bench.home.path().join("outside");
    fs::create_dir_all(outside.join("other")).unwrap();
    fs::write(outside.join("other/mine.txt"), "mine\n").unwrap();
    for at in ["vendor/other", "vendor"] {
        let path = gate.join(at);
        fs::remove_dir_all(&path).unwrap();
        std::os::unix::fs::symlink(&outside, &path).unwrap();
        bench.spaces.gate_checkout(&job(), &base).unwrap();
        assert_eq!(read(&gate.join("vendor/other/file.txt")), "other\n");
        assert!(!gate.join(at).is_symlink());
        let left: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["other"], "nothing was written there");
        assert_eq!(read(&outside.join("other/mine.txt")), "mine\n");
    }
}

/// `.gitmodules` may say anything: of what it names, only what git itself keeps for submodules is looked at.
#[test]
fn names_that_lead_elsewhere_fill_nothing() {
    let bench = Bench::new();
    let secret = bench.other("secret", "secret\n");
    let commit = bench.git(&secret, &["rev-parse", "HEAD"]);
    let modules = bench.user().join(".git/modules");
    fs::create_dir_all(&modules).unwrap();
    std::os::unix::fs::symlink(secret.join(".git"), modules.join("linked")).unwrap();
    for name in [
        "../../../secret/.git",
        "linked",
        "..",
        ".",
        "",
        "a/../../../secret/.git",
        &secret.join(".git").display().to_string(),
    ] {
        fs::write(
            bench.user().join(".gitmodules"),
            format!("[submodule \"{name}\"]\n\tpath = vendor/secret\n\turl = ext::sh -c 'touch /tmp/ran'\n"),
        )
        .unwrap();
        bench.git(&bench.user(), &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},vendor/secret")]);
        bench.git(&bench.user(), &["update-index", "--add", ".gitmodules"]);
        bench.git(&bench.user(), &["commit", "-qm", "hostile"]);
        let tree = bench.place(&bench.head());
        assert!(fs::read_dir(tree.join("vendor/secret")).unwrap().next().is_none(), "{name:?}");
    }
    // One that nobody can read names none.
    fs::write(bench.user().join(".gitmodules"), "[submodule\n").unwrap();
    bench.git(&bench.user(), &["add", ".gitmodules"]);
    bench.git(&bench.user(), &["commit", "-qm", "broken"]);
    bench.place(&bench.head());
}

#[test]
fn files_of_lfs_are_there_and_results_name_them_as_before() {
    let bench = Bench::new();
    let pointer = bench.object("the whole picture\n");
    fs::write(bench.user().join(".gitattributes"), "*.bin filter=lfs diff=lfs merge=lfs -text\n").unwrap();
    fs::write(bench.user().join("a.bin"), &pointer).unwrap();
    fs::write(bench.user().join("plain.txt"), &pointer).unwrap();
    let base = bench.commit_all(&bench.user(), "with lfs");
    let tree = bench.place(&base);
    assert_eq!(read(&tree.join("a.bin")), "the whole picture\n");
    assert_eq!(read(&tree.join("plain.txt")), pointer, "only what the attributes name is of LFS");
    assert_eq!(bench.git(&tree, &["status", "--porcelain"]), "", "the agent's own git shows nothing");
    fs::write(tree.join("src/b.txt"), "b\n").unwrap();
    // Written again as it was, it is still the same.
    fs::remove_file(tree.join("a.bin")).unwrap();
    fs::write(tree.join("a.bin"), "the whole picture\n").unwrap();
    let committed = bench.spaces.commit_attempt(&key("build"), &base, &base, &text()).unwrap().committed;
    let changed: Vec<&str> = committed.changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(changed, ["src/b.txt"]);
    // What an agent changes is its work.
    fs::write(tree.join("a.bin"), "THE whole picture\n").unwrap();
    let committed = bench.spaces.commit_attempt(&key("build"), &base, &base, &text()).unwrap().committed;
    assert!(committed.changed.iter().any(|file| file.path == "a.bin"));

    let gate = bench.spaces.gate_checkout(&job(), &base).unwrap();
    assert_eq!(read(&gate.join("a.bin")), "the whole picture\n");
    assert!(bench.spaces.touched(&gate).unwrap().is_empty());
    fs::write(gate.join("a.bin"), "changed by a command\n").unwrap();
    assert_eq!(bench.spaces.touched(&gate).unwrap(), ["a.bin"]);
    let gate = bench.spaces.gate_checkout(&job(), &base).unwrap();
    assert_eq!(read(&gate.join("a.bin")), "the whole picture\n");
    // The user's own object is nobody's to change.
    let digest = format!("{:x}", Sha256::digest("the whole picture\n"));
    let object = bench.user().join(format!(".git/lfs/objects/{}/{}/{digest}", &digest[..2], &digest[2..4]));
    assert_eq!(read(&object), "the whole picture\n");
}

#[test]
fn a_pointer_to_what_is_not_there_or_not_what_it_says_stays_one() {
    let bench = Bench::new();
    let secret = bench.home.path().join("secret.txt");
    fs::write(&secret, "secret\n").unwrap();
    fs::write(bench.user().join(".gitattributes"), "*.bin filter=lfs\n").unwrap();
    let digest = |text: &str| format!("{:x}", Sha256::digest(text));
    let objects = bench.user().join(".git/lfs/objects");
    let put = |digest: &str| {
        let directory = objects.join(&digest[..2]).join(&digest[2..4]);
        fs::create_dir_all(&directory).unwrap();
        directory.join(digest)
    };
    // Damaged, of another size than is said, a link out of the store, and gone.
    fs::write(put(&digest("damaged\n")), "DAMAGED\n").unwrap();
    fs::write(put(&digest("short\n")), "short\n").unwrap();
    std::os::unix::fs::symlink(&secret, put(&digest("secret\n"))).unwrap();
    let pointers = [
        ("damaged.bin", pointer(&digest("damaged\n"), 8)),
        ("short.bin", pointer(&digest("short\n"), usize::MAX)),
        ("linked.bin", pointer(&digest("secret\n"), 7)),
        ("gone.bin", pointer(&digest("gone\n"), 5)),
        ("traversal.bin", pointer(&format!("../../../../../{}", &digest("x")[15..]), 7)),
    ];
    for (name, text) in &pointers {
        fs::write(bench.user().join(name), text).unwrap();
    }
    let base = bench.commit_all(&bench.user(), "hostile");
    let tree = bench.place(&base);
    for (name, text) in &pointers {
        assert_eq!(read(&tree.join(name)), *text, "{name}");
    }
    let left = |entry: fs::DirEntry| entry.file_name().to_string_lossy().starts_with(".lfs");
    assert!(!fs::read_dir(&tree).unwrap().any(|entry| left(entry.unwrap())));
    assert_eq!(bench.git(&tree, &["status", "--porcelain"]), "");
}

/// What a commit names and the user has not got is empty, whatever a former commit, or a command, has left there.
#[test]
fn a_submodule_that_is_not_there_is_empty() {
    let bench = Bench::new();
    let base = with_submodules(&bench);
    let gate = bench.spaces.gate_checkout(&job(), &base).unwrap();
    assert_eq!(read(&gate.join("vendor/outer/deep/inner/file.txt")), "inner\n");
    let is_empty = |at: &str| fs::read_dir(gate.join(at)).unwrap().next().is_none();

    // A commit that is nowhere, in the work tree's own index only; under a name that is no text there is never one.
    let odd = std::ffi::OsStr::from_bytes(b"vendor/\xff");
    for at in [std::ffi::OsStr::new("vendor/outer"), odd] {
        let mut entry = std::ffi::OsString::from(format!("160000,{},", "1".repeat(40)));
        entry.push(at);
        let mut command = Command::new("git");
        let command = command.args(["update-index", "--add", "--cacheinfo"]).arg(entry);
        assert!(command.current_dir(bench.user()).status().unwrap().success());
    }
    bench.git(&bench.user(), &["commit", "-qm", "nowhere"]);
    let nowhere = bench.head();
    bench.spaces.gate_checkout(&job(), &nowhere).unwrap();
    assert!(is_empty("vendor/outer"));
    for at in [Path::new("vendor/outer"), Path::new(odd)] {
        fs::create_dir_all(gate.join(at)).unwrap();
        fs::write(gate.join(at).join("planted.txt"), "planted\n").unwrap();
    }
    bench.spaces.gate_checkout(&job(), &nowhere).unwrap();
    assert!(is_empty("vendor/outer"));
    assert!(fs::read_dir(gate.join(odd)).unwrap().next().is_none());

    // One in another, whose repository has gone; and all of it is back with the commit and the repository.
    bench.spaces.gate_checkout(&job(), &base).unwrap();
    assert_eq!(read(&gate.join("vendor/outer/deep/inner/file.txt")), "inner\n");
    let modules = bench.user().join(".git/modules/vendor/outer/modules");
    fs::rename(&modules, modules.with_extension("gone")).unwrap();
    bench.spaces.gate_checkout(&job(), &base).unwrap();
    assert_eq!(read(&gate.join("vendor/outer/file.txt")), "outer\n");
    assert!(is_empty("vendor/outer/deep/inner"));
    fs::rename(modules.with_extension("gone"), &modules).unwrap();
    bench.spaces.gate_checkout(&job(), &base).unwrap();
    assert_eq!(read(&gate.join("vendor/outer/deep/inner/file.txt")), "inner\n");
}

/// Byte code and environments of Python are in no result, also where nobody has written a `.gitignore`; everything else may be work.
#[test]
fn only_byte_code_and_environments_are_no_result_by_their_names() {
    let bench = Bench::new();
    let base = bench.head();
    let work = [
        "com/x/target/classes/A.java",
        "node_modules/x/index.js",
        "src/__pycache__/notes.txt",
        "src/bill.egg-info/PKG-INFO",
        "src/target/debug/mod.rs",
        "test/fixtures/a/node_modules/x/index.js",
    ];
    let leave = |tree: &Path| {
        for path in work.into_iter().chain(["src/__pycache__/a.cpython-312.pyc", ".venv/bin/python"]) {
            fs::create_dir_all(tree.join(path).parent().unwrap()).unwrap();
            fs::write(tree.join(path), "x").unwrap();
        }
    };
    let paths = |result: helix_git::AttemptCommit| {
        result.committed.changed.into_iter().map(|file| file.path).collect::<Vec<_>>()
    };
    assert_eq!(paths(bench.attempt("build", &base, leave)), work);
    fs::write(bench.user().join(".gitignore"), "node_modules/\n!*.pyc\n").unwrap();
    let base = bench.commit_all(&bench.user(), "says otherwise");
    let mut expected = vec!["src/__pycache__/a.cpython-312.pyc"];
    expected.extend(work.into_iter().filter(|path| !path.contains("node_modules")));
    expected.sort_unstable();
    assert_eq!(paths(bench.attempt("other", &base, leave)), expected);
}

#[test]
fn a_file_of_lfs_counts_as_unchanged_only_with_its_content_and_mode() {
    let bench = Bench::new();
    let pointer = bench.object("the whole picture\n");
    fs::write(bench.user().join(".gitattributes"), "*.bin filter=lfs -text\n").unwrap();
    for name in ["mode.bin", "time.bin"] {
        fs::write(bench.user().join(name), &pointer).unwrap();
    }
    let base = bench.commit_all(&bench.user(), "with lfs");
    let gate = bench.spaces.gate_checkout(&job(), &base).unwrap();
    let (mode, time) = (gate.join("mode.bin"), gate.join("time.bin"));
    // Another time alone is no change.
    fs::File::options().write(true).open(&mode).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    assert!(bench.spaces.touched(&gate).unwrap().is_empty());
    fs::set_permissions(&mode, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(bench.spaces.touched(&gate).unwrap(), ["mode.bin"]);
    // As long as before, in the same file, with the same time.
    let before = fs::metadata(&time).unwrap().modified().unwrap();
    fs::write(&time, "THE WHOLE PICTURE\n").unwrap();
    fs::File::options().write(true).open(&time).unwrap().set_modified(before).unwrap();
    assert_eq!(bench.spaces.touched(&gate).unwrap(), ["mode.bin", "time.bin"]);
}

/// A `.gitmodules` is read once, and repositories of submodules are not all open at the same time.
#[test]
fn many_submodules_take_few_processes_at_a_time() {
    let mut bench = Bench::new();
    let other = bench.other("other", "other\n");
    for number in 0..8 {
        bench.add_submodule(&bench.user(), &other, &format!("vendor/m{number}"));
    }
    let base = bench.commit_all(&bench.user(), "with many");
    let bin = bench.home.path().join("bin");
    fs::create_dir_all(&bin).unwrap();
    let git = bench.git(bench.home.path(), &["--exec-path"]) + "/git";
    let log = bin.join("log").display().to_string();
    // Says of each process that reads objects how many of those before it are still there: it keeps its number.
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n*' config '*--blob*) echo names >> '{log}' ;;\n*' cat-file '*) open=0\n\
         for pid in $(cat '{log}.pids' 2>/dev/null); do kill -0 $pid 2>/dev/null && open=$((open + 1)); done\n\
         echo $$ >> '{log}.pids'; echo $open >> '{log}' ;;\nesac\nexec '{git}' \"$@\"\n"
    );
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let environment = GitEnvironment::from_variables([
        (OsString::from("PATH"), path.into()),
        (OsString::from("HOME"), bench.home.path().into()),
        (OsString::from("GIT_CONFIG_NOSYSTEM"), "1".into()),
    ]);
    let repository = Repository::open(&bench.user(), environment).unwrap();
    bench.spaces = Workspaces::new(repository, &bench.home.path().join("other-state")).unwrap();
    let tree = bench.place(&base);
    for number in 0..8 {
        assert_eq!(read(&tree.join(format!("vendor/m{number}/file.txt"))), "other\n");
    }
    let log = read(Path::new(&log));
    let open: Vec<usize> = log.lines().filter_map(|line| line.parse().ok()).collect();
    assert_eq!(log.lines().filter(|line| *line == "names").count(), 1, "{log}");
    assert!(open.len() >= 9 && open.iter().all(|open| *open <= 2), "{log}");
}

#[test]
fn a_pointer_that_claims_much_takes_nothing_from_others() {
    let bench = Bench::new();
    fs::write(bench.user().join(".gitattributes"), "*.bin filter=lfs -text\n").unwrap();
    let claimed = pointer(&format!("{:x}", Sha256::digest("nowhere")), 1 << 50);
    fs::write(bench.user().join("a.bin"), &claimed).unwrap();
    fs::write(bench.user().join("b.bin"), bench.object("the whole picture\n")).unwrap();
    let base = bench.commit_all(&bench.user(), "with lfs");
    let tree = bench.place(&base);
    assert_eq!(read(&tree.join("a.bin")), claimed);
    assert_eq!(read(&tree.join("b.bin")), "the whole picture\n");
}

/// Neither a name that is no text, nor more names than a record holds, is in the way of a checkout.
#[test]
fn odd_and_many_names_of_files_of_lfs_break_no_checkout() {
    let bench = Bench::new();
    fs::write(bench.user().join(".gitattributes"), "* filter=lfs -text\n").unwrap();
    let pointer = bench.object("the whole picture\n");
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff.bin");
    fs::write(bench.user().join(odd), &pointer).unwrap();
    fs::write(bench.user().join("a.bin"), &pointer).unwrap();
    let base = bench.commit_all(&bench.user(), "with an odd name");
    let tree = bench.place(&base);
    assert_eq!(read(&tree.join("a.bin")), "the whole picture\n");
    assert_eq!(read(&tree.join(odd)), pointer, "it stays a pointer");

    // Each of these is written in six times its length.
    let mut deep = bench.user();
    deep.extend(std::iter::repeat_n("\u{1}".repeat(250), 12));
    fs::create_dir_all(&deep).unwrap();
    for number in 0..1000 {
        fs::write(deep.join(number.to_string()), &pointer).unwrap();
    }
    let base = bench.commit_all(&bench.user(), "with long names");
    let tree = bench.spaces.prepare_attempt(&key("long"), &base).unwrap().path;
    assert_eq!(read(&tree.join("a.bin")), "the whole picture\n");
    bench.spaces.commit_attempt(&key("long"), &base, &base, &text()).unwrap();
}

/// What is moved, copied, or gets another mode is named by its pointer, where the attributes of the result keep it apart.
#[test]
fn a_file_of_lfs_that_is_moved_stays_one() {
    let bench = Bench::new();
    fs::write(bench.user().join(".gitattributes"), "*.bin filter=lfs -text\n").unwrap();
    bench.git(&bench.user(), &["config", "filter.lfs.clean", "false"]);
    let pointer = bench.object("the whole picture\n");
    let spaces = Workspaces::new(bench.spaces.repository().user().clone(), &bench.home.path().join("state")).unwrap();
    let bench = Bench { spaces, ..bench };
    for name in ["a.bin", "mode.bin"] {
        fs::write(bench.user().join(name), &pointer).unwrap();
    }
    bench.git(&bench.user(), &["-c", "filter.lfs.clean=", "add", "-A"]);
    bench.git(&bench.user(), &["-c", "filter.lfs.clean=", "commit", "-qm", "with lfs"]);
    let base = bench.head();
    let result = bench.attempt("build", &base, |tree| {
        fs::copy(tree.join("a.bin"), tree.join("plain.txt")).unwrap();
        fs::rename(tree.join("a.bin"), tree.join("b.bin")).unwrap();
        fs::write(tree.join("other.bin"), "THE WHOLE PICTURE\n").unwrap();
        fs::set_permissions(tree.join("mode.bin"), fs::Permissions::from_mode(0o755)).unwrap();
    });
    let commit = &result.committed.commit;
    let repository = bench.spaces.repository();
    let files = repository.listing(&result.committed.tree).unwrap();
    let content = |path: &str| String::from_utf8(repository.blob(&files[path].object).unwrap()).unwrap();
    assert!(!files.contains_key("a.bin"), "{commit}");
    assert_eq!((content("b.bin"), content("mode.bin")), (pointer.clone(), pointer));
    assert_eq!(files["mode.bin"].kind, helix_git::EntryKind::Executable);
    assert_eq!(content("plain.txt"), "the whole picture\n", "nothing keeps it apart");
    assert_eq!(content("other.bin"), "THE WHOLE PICTURE\n", "its content is new");
    let notes: Vec<String> = result.repairs.iter().map(|one| RECORD.words(one)).collect();
    assert_eq!(notes, ["Helix runs no git filters: it committed as it is on the disk: other.bin (filter lfs)"]);
}

/// A host that ended before it could commit leaves the next one all that tells files of LFS, and what was prepared, from work.
#[test]
fn work_that_is_committed_by_the_next_host_has_pointers() {
    let bench = Bench::new();
    let pointer = bench.object("the whole picture\n");
    fs::write(bench.user().join(".gitattributes"), "*.bin filter=lfs -text\n").unwrap();
    fs::write(bench.user().join("a.bin"), &pointer).unwrap();
    let base = bench.commit_all(&bench.user(), "with lfs");
    let tree = bench.place(&base);
    let kept = bench.home.path().join("prepared");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("copied.txt"), "of the user\n").unwrap();
    let fitting = helix_git::Fitting { tree: kept, entries: vec!["copied.txt".into()] };
    bench.spaces.fit(&tree, &fitting).unwrap();
    fs::write(tree.join("b.txt"), "b\n").unwrap();
    let state = bench.home.path().join("state");
    let done = Workspaces::set_aside(&state, &BTreeSet::new(), &[key("build")]).unwrap();
    assert!(done.removed.is_empty() && tree.join("b.txt").exists());
    let committed = bench.spaces.commit_attempt(&key("build"), &base, &base, &text()).unwrap().committed;
    let changed: Vec<&str> = committed.changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(changed, ["b.txt"]);
}

/// No tree holds a `.git`, so that git takes none away.
#[test]
fn a_git_directory_that_a_command_has_left_is_in_no_later_checkout() {
    let bench = Bench::new();
    let base = with_submodules(&bench);
    let gate = bench.spaces.gate_checkout(&job(), &base).unwrap();
    let left = ["vendor/outer/.git", "vendor/outer/deep/inner/.git", "src/.git"].map(|at| gate.join(at));
    for directory in &left {
        fs::create_dir_all(directory.join("hooks")).unwrap();
        fs::write(directory.join("config"), "[core]\n").unwrap();
    }
    bench.spaces.gate_checkout(&job(), &base).unwrap();
    assert!(left.iter().all(|directory| !directory.exists()));
    assert_eq!(read(&gate.join("vendor/outer/deep/inner/file.txt")), "inner\n");
    assert_eq!(bench.git(&gate, &["log", "--format=%s", "-1"]), "with outer", "the checkout has its own");
}

#[test]
fn settings_of_the_user_count_for_submodules_in_submodules() {
    let mut bench = Bench::new();
    let base = with_submodules(&bench);
    bench.git(&bench.user(), &["config", "core.autocrlf", "true"]);
    let user = bench.spaces.repository().user().clone();
    bench.spaces = Workspaces::new(user, &bench.home.path().join("other-state")).unwrap();
    let tree = bench.place(&base);
    for at in ["vendor/outer/file.txt", "vendor/outer/deep/inner/file.txt"] {
        assert!(read(&tree.join(at)).ends_with("\r\n"), "{at}");
    }
}

/// A commit that only the agent's own repository has can be checked and fetched by nobody.
#[test]
fn a_commit_of_a_submodule_that_only_an_agent_has_is_refused() {
    let bench = Bench::new();
    let base = with_submodules(&bench);
    let refused = |result: helix_git::AttemptCommit| {
        result.findings.into_iter().map(|finding| (finding.rule, finding.place.unwrap().file)).collect::<Vec<_>>()
    };
    let result = bench.attempt("build", &base, |tree| {
        bench.git(&tree.join("vendor/outer"), &["init", "-q"]);
        bench.commit_all(&tree.join("vendor/outer"), "made here");
    });
    assert_eq!(result.committed.changed.len(), 1);
    assert_eq!(refused(result), [("result.submodule".to_owned(), "vendor/outer".to_owned())]);
    // One that the user has.
    let known = bench.git(&bench.user().join("vendor/outer"), &["rev-parse", "HEAD~1"]);
    let result = bench.attempt("other", &base, |tree| {
        let modules = bench.user().join(".git/modules/vendor/outer");
        let git = tree.join("vendor/outer/.git");
        fs::create_dir_all(git.join("refs")).unwrap();
        std::os::unix::fs::symlink(modules.join("objects"), git.join("objects")).unwrap();
        fs::write(git.join("HEAD"), format!("{known}\n")).unwrap();
    });
    assert_eq!(result.committed.changed.len(), 1);
    assert_eq!(refused(result), []);
}

/// What is larger than a file of a result may be is named by its pointer all the same, and stored nowhere.
#[test]
fn a_large_file_of_lfs_is_moved_by_its_pointer() {
    let bench = Bench::new();
    let size = 101 << 20;
    let content = bench.home.path().join("content");
    fs::File::create(&content).unwrap().set_len(size).unwrap();
    let mut hash = Sha256::new();
    std::io::copy(&mut fs::File::open(&content).unwrap(), &mut hash).unwrap();
    let digest = format!("{:x}", hash.finalize());
    let place = bench.user().join(format!(".git/lfs/objects/{}/{}", &digest[..2], &digest[2..4]));
    fs::create_dir_all(&place).unwrap();
    fs::rename(&content, place.join(&digest)).unwrap();
    let pointer = pointer(&digest, usize::try_from(size).unwrap());
    fs::write(bench.user().join(".gitattributes"), "*.bin filter=lfs -text\n").unwrap();
    for name in ["a.bin", "mode.bin"] {
        fs::write(bench.user().join(name), &pointer).unwrap();
    }
    let base = bench.commit_all(&bench.user(), "with a large one");
    let result = bench.attempt("build", &base, |tree| {
        fs::rename(tree.join("a.bin"), tree.join("b.img")).unwrap();
        fs::write(tree.join(".gitattributes"), "*.bin filter=lfs -text\n*.img filter=lfs -text\n").unwrap();
        fs::set_permissions(tree.join("mode.bin"), fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink("b.img", tree.join("link.bin")).unwrap();
    });
    assert!(result.findings.is_empty(), "{:?}", result.findings);
    let repository = bench.spaces.repository();
    let files = repository.listing(&result.committed.tree).unwrap();
    let content = |path: &str| String::from_utf8(repository.blob(&files[path].object).unwrap()).unwrap();
    assert_eq!((content("b.img"), content("mode.bin")), (pointer.clone(), pointer));
    assert_eq!(files["mode.bin"].kind, helix_git::EntryKind::Executable);
    assert_eq!(content("link.bin"), "b.img", "a link is what it says");
    let object = bench.git(&bench.user(), &["hash-object", "--no-filters", &place.join(digest).display().to_string()]);
    assert!(repository.size(&object).is_err(), "its content is stored");
}

/// Git keeps the submodules of each work tree with that.
#[test]
fn work_of_a_linked_work_tree_has_its_submodules() {
    let bench = Bench::new();
    with_submodules(&bench);
    let linked = bench.home.path().join("linked");
    bench.git(&bench.user(), &["worktree", "add", "-q", &linked.display().to_string()]);
    let modules = bench.user().join(".git/modules");
    let update = ["-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init", "--recursive"];
    bench.git(&linked, &update);
    fs::rename(&modules, modules.with_extension("gone")).unwrap();
    let place = bench.home.path().join("copy");
    fs::create_dir(&place).unwrap();
    let copy = WorkCopy::take(&linked, &place, &environment(bench.home.path())).unwrap();
    let spaces = Workspaces::new(copy.repository, &bench.home.path().join("other-state")).unwrap();
    let gate = spaces.gate_checkout(&job(), &copy.commit).unwrap();
    assert_eq!(read(&gate.join("vendor/outer/deep/inner/file.txt")), "inner\n");
}

/// What lies in a submodule's directory itself is not what work places are filled from: its user is told what moves it.
#[test]
fn a_submodule_with_a_git_directory_of_its_own_is_told() {
    let bench = Bench::new();
    let other = bench.other("other", "other\n");
    bench.git(&bench.user(), &["clone", "-q", &other.display().to_string(), "vendor/other"]);
    bench.git(&bench.user(), &["submodule", "add", "-q", &other.display().to_string(), "vendor/other"]);
    let base = bench.commit_all(&bench.user(), "with other");
    let warnings = || Repository::open(&bench.user(), environment(bench.home.path())).unwrap().warnings().to_vec();
    assert!(warnings()[0].to_string().contains("git submodule absorbgitdirs"));
    assert!(fs::read_dir(bench.place(&base).join("vendor/other")).unwrap().next().is_none());
    bench.git(&bench.user(), &["submodule", "absorbgitdirs"]);
    assert!(warnings().is_empty());
    assert_eq!(read(&bench.place(&base).join("vendor/other/file.txt")), "other\n");
}
