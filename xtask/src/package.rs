//! `cargo xtask package`: what people install without a compiler, from one executable for each processor: archives, packages for npm,
//! Python and Debian, each installed from its file and tried.
//!
//! Must not publish anything.

mod check;
mod executable;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, ScopedJoinHandle};

use anyhow::{Context, anyhow};
use serde_json::json;

use crate::workspace;
use executable::{Executable, Processor};

/// Its name in the registries; the executable is `helix`.
const NAME: &str = "helix-cli";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const ABOUT: &str = "Turns a conversation into verified software by driving coding agents";

/// What to package.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Packages this executable instead of building one for each processor
    #[arg(long, value_name = "FILE")]
    helix: Option<PathBuf>,
    /// Installs each package from its file, and runs what it installed
    #[arg(long)]
    check: bool,
    /// Builds the image for containers, too, which runs Helix once; needs podman, and its registry for the system around it
    #[arg(long)]
    container: bool,
}

impl Options {
    /// Packages of what the tests have built, each tried.
    pub(crate) fn of_debug_build() -> Self {
        Self { helix: Some(workspace::root().join("target/debug/helix")), check: true, container: false }
    }
}

/// What there is of one executable.
struct Packages {
    archive: PathBuf,
    npm: PathBuf,
    wheel: PathBuf,
    debian: PathBuf,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let out = workspace::root().join("target/package");
    if out.exists() {
        fs::remove_dir_all(&out).context(out.display().to_string())?;
    }
    let staging = out.join("staging");
    fs::create_dir_all(&staging)?;
    let executables = match &options.helix {
        Some(given) => vec![Executable::given(given, &staging)?],
        None => Processor::ALL.into_iter().map(Executable::built).collect::<anyhow::Result<_>>()?,
    };
    let native = executables.iter().find(|one| one.processor.is_native());
    let native = native
        .context("no executable runs on this machine\nhint: manual page and completions are made by running one")?;
    let shared = shared(native, &staging)?;
    let launcher = launcher(&out, &staging)?;
    for executable in &executables {
        let packages = packages(executable, &shared, &out, &staging)?;
        if options.check && executable.processor.is_native() {
            check::run(&packages, &launcher)?;
            if options.container {
                container(&packages.debian)?;
            } else {
                println!("container: skipped, `--container` builds it");
            }
        } else if options.check {
            println!("{}: not tried, it is for another processor", packages.archive.display());
        }
    }
    fs::copy(workspace::root().join("packaging/Containerfile"), out.join("Containerfile"))?;
    fs::remove_dir_all(&staging)?;
    let mut sums = Command::new("sh");
    sums.args(["-c", "sha256sum -- * > SHA256SUMS && cat SHA256SUMS"]).current_dir(&out);
    println!("in {}:", out.display());
    workspace::run(&mut sums)
}

/// What lies beside the executable on every system, laid out as below `/usr`.
fn shared(native: &Executable, staging: &Path) -> anyhow::Result<PathBuf> {
    let (root, shared) = (workspace::root(), staging.join("shared"));
    let said = |arguments: &[&str]| workspace::output(Command::new(&native.file).args(arguments));
    for (path, text) in [
        ("share/man/man1/helix.1", said(&["man"])?),
        ("share/bash-completion/completions/helix", said(&["completions", "bash"])?),
        ("share/zsh/site-functions/_helix", said(&["completions", "zsh"])?),
        ("share/fish/vendor_completions.d/helix.fish", said(&["completions", "fish"])?),
        ("lib/systemd/user/helix.service", fs::read_to_string(root.join("packaging/helix.service"))?),
        ("share/doc/helix-cli/README.md", fs::read_to_string(root.join("README.md"))?),
        ("share/doc/helix-cli/copyright", fs::read_to_string(root.join("LICENSE"))?),
    ] {
        write(&shared.join(path), &text)?;
    }
    Ok(shared)
}

/// The package for npm that all platforms share: it starts the executable of the one for this platform.
fn launcher(out: &Path, staging: &Path) -> anyhow::Result<PathBuf> {
    let directory = staging.join(NAME);
    let platforms = Processor::ALL.map(|processor| (processor.npm_package(), json!(VERSION)));
    let manifest = json!({
        "name": NAME, "version": VERSION, "description": ABOUT, "license": "Apache-2.0",
        "bin": {"helix": "helix.js"}, "files": ["helix.js"], "engines": {"node": ">=18"},
        "optionalDependencies": serde_json::Map::from_iter(platforms),
    });
    write(&directory.join("package.json"), &manifest.to_string())?;
    write(&directory.join("helix.js"), &fs::read_to_string(workspace::root().join("packaging/npm/helix.js"))?)?;
    fs::copy(workspace::root().join("README.md"), directory.join("README.md"))?;
    npm_pack(&directory, out)
}

/// All packages of an executable, side by side: packing takes the time.
fn packages(executable: &Executable, shared: &Path, out: &Path, staging: &Path) -> anyhow::Result<Packages> {
    let tree = staging.join(format!("helix-{VERSION}-{}-linux", executable.processor.name()));
    workspace::run(Command::new("cp").arg("-r").arg(shared).arg(&tree))?;
    install(&executable.file, &tree.join("bin/helix"))?;
    thread::scope(|scope| {
        let archive = scope.spawn(|| archive(&tree, out));
        let npm = scope.spawn(|| npm(executable, out, staging));
        let wheel = scope.spawn(|| wheel(executable, out));
        let debian = debian(executable, &tree, out, staging)?;
        Ok(Packages { archive: joined(archive)?, npm: joined(npm)?, wheel: joined(wheel)?, debian })
    })
}

fn joined<T>(thread: ScopedJoinHandle<'_, anyhow::Result<T>>) -> anyhow::Result<T> {
    thread.join().map_err(|_| anyhow!("a package panicked"))?
}

fn archive(tree: &Path, out: &Path) -> anyhow::Result<PathBuf> {
    let (parent, name) = (tree.parent(), tree.file_name());
    let (parent, name) = parent.zip(name).context("a tree without a name")?;
    let file = out.join(format!("{}.tar.gz", name.display()));
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]).arg(format!("--mtime=@{}", committed_at()?));
    workspace::run(tar.arg("-C").arg(parent).arg("-czf").arg(&file).arg(name))?;
    Ok(file)
}

fn npm(executable: &Executable, out: &Path, staging: &Path) -> anyhow::Result<PathBuf> {
    let processor = executable.processor;
    let directory = staging.join(processor.npm_package());
    let manifest = json!({
        "name": processor.npm_package(), "version": VERSION, "license": "Apache-2.0",
        "description": format!("The executable of {NAME} for Linux on {}", processor.name()),
        "os": ["linux"], "cpu": [processor.node()], "files": ["helix"],
    });
    write(&directory.join("package.json"), &manifest.to_string())?;
    install(&executable.file, &directory.join("helix"))?;
    npm_pack(&directory, out)
}

fn wheel(executable: &Executable, out: &Path) -> anyhow::Result<PathBuf> {
    let root = workspace::root();
    let mut python = Command::new("python3");
    python.arg(root.join("packaging/wheel.py")).arg(&executable.file).args([VERSION, &executable.wheel_platform()]);
    let made = workspace::output(python.arg(root.join("README.md")).arg(out))?;
    Ok(made.trim_end().into())
}

/// A package for Debian and what comes from it: the same tree below `/usr`.
fn debian(executable: &Executable, tree: &Path, out: &Path, staging: &Path) -> anyhow::Result<PathBuf> {
    let processor = executable.processor;
    let directory = staging.join(format!("deb-{}", processor.debian()));
    fs::create_dir_all(&directory)?;
    workspace::run(Command::new("cp").arg("-r").arg(tree).arg(directory.join("usr")))?;
    let (usr, manual) = (directory.join("usr"), directory.join("usr/share/man/man1/helix.1"));
    workspace::run(Command::new("gzip").arg("-9n").arg(manual))?;
    fs::rename(usr.join("share/zsh/site-functions"), usr.join("share/zsh/vendor-completions"))?;
    let libraries = if executable.is_static { "" } else { "libc6, " };
    let control = format!(
        "Package: {NAME}\nVersion: {VERSION}\nArchitecture: {}\nMaintainer: The Helix authors <helix@localhost>\nDepends: {libraries}git\nSection: devel\nPriority: optional\nDescription: {ABOUT}\n",
        processor.debian()
    );
    write(&directory.join("DEBIAN/control"), &control)?;
    let file = out.join(format!("{NAME}_{VERSION}_{}.deb", processor.debian()));
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "-z1", "--build"]).arg(&directory).arg(&file);
    workspace::output(build.env("SOURCE_DATE_EPOCH", committed_at()?))?;
    Ok(file)
}

fn container(package: &Path) -> anyhow::Result<()> {
    let (directory, name) = package.parent().zip(package.file_name()).context("a package without a name")?;
    let mut build = Command::new("podman");
    build.args(["build", "--tag", "helix", "--build-arg"]).arg(format!("DEB={}", name.display()));
    build.arg("--file").arg(workspace::root().join("packaging/Containerfile"));
    workspace::run(build.arg(directory)).context("the image cannot be built")
}

fn npm_pack(directory: &Path, out: &Path) -> anyhow::Result<PathBuf> {
    let mut pack = Command::new("npm");
    pack.args(["pack", "--silent", "--pack-destination"]).arg(out).arg(directory);
    let name = workspace::output(&mut pack)?;
    Ok(out.join(name.trim_end()))
}

/// When the last commit was made, in seconds: so that the same sources give the same packages.
fn committed_at() -> anyhow::Result<String> {
    let mut git = Command::new("git");
    let said = workspace::output(git.args(["log", "-1", "--format=%ct"]).current_dir(workspace::root()))?;
    Ok(said.trim_end().to_owned())
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::create_dir_all(path.parent().context("a file without a directory")?)?;
    fs::write(path, text).with_context(|| path.display().to_string())
}

fn install(executable: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to.parent().context("a file without a directory")?)?;
    fs::copy(executable, to).with_context(|| format!("cannot copy {}", executable.display()))?;
    fs::set_permissions(to, fs::Permissions::from_mode(0o755)).with_context(|| to.display().to_string())
}
