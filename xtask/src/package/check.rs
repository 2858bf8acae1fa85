//! Installs packages from their files, as a user would, into directories that go away again, and runs what they installed.
//!
//! Must not know how packages are made.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use helix_testkit::sandbox::Sandbox;

use super::{Packages, VERSION};
use crate::{setup, workspace};

pub(super) fn run(packages: &Packages, launcher: &Path) -> anyhow::Result<()> {
    let sandbox = Sandbox::new()?;
    let top = |name: &str| -> anyhow::Result<_> {
        let top = sandbox.path().join(name);
        fs::create_dir_all(&top)?;
        Ok(top)
    };

    let archive = top("archive")?;
    workspace::run(
        Command::new("tar").arg("-xzf").arg(&packages.archive).arg("-C").arg(&archive).arg("--strip-components=1"),
    )?;
    tell(&sandbox, "archive", &archive.join("bin/helix"))?;
    workspace::output(sandbox.command(archive.join("bin/helix")).arg("demo").current_dir(&archive))?;
    println!("archive: `helix demo` ran to its end");

    let npm = top("npm")?;
    let mut install = sandbox.command("npm");
    install.args(["install", "--offline", "--no-audit", "--no-fund", "--silent", "--prefix"]);
    workspace::output(install.arg(&npm).arg(&packages.npm).arg(launcher))?;
    let program = npm.join("node_modules/.bin/helix");
    tell(&sandbox, "npm", &program)?;
    let wrong = sandbox.command(&program).args(["jobs", "show", "j0"]).output()?;
    ensure!(wrong.status.code().is_some_and(|code| code > 0), "npm: an error of Helix does not reach the shell");

    let python = top("python")?;
    workspace::run(sandbox.command("python3").args(["-m", "venv"]).arg(&python))?;
    workspace::output(
        sandbox.command(python.join("bin/pip")).args(["install", "--no-index", "--quiet"]).arg(&packages.wheel),
    )?;
    tell(&sandbox, "wheel, with pip", &python.join("bin/helix"))?;
    let uvx = setup::directory().join("python/bin/uvx");
    if uvx.exists() {
        let mut uvx = sandbox.command(uvx);
        let said =
            workspace::output(uvx.args(["--offline", "--from"]).arg(&packages.wheel).args(["helix", "--version"]))?;
        ensure!(said.trim_end() == format!("helix {VERSION}"), "uvx: {said}");
        println!("wheel, with uvx: {}", said.trim_end());
    } else {
        println!("wheel, with uvx: skipped, `cargo xtask setup` installs uv");
    }

    if !workspace::installed("dpkg") {
        println!("Debian package: skipped, dpkg is not installed");
        return Ok(());
    }
    debian(&sandbox, &top("debian")?, &packages.debian)
}

/// Runs an installed executable.
fn tell(sandbox: &Sandbox, what: &str, program: &Path) -> anyhow::Result<()> {
    let said = workspace::output(sandbox.command(program).arg("--version"))?;
    ensure!(said.trim_end() == format!("helix {VERSION}"), "{what}: `helix --version` says {said:?}");
    println!("{what}: {}", said.trim_end());
    Ok(())
}

/// Into a system of its own; what it depends on is not there, and not looked for.
fn debian(sandbox: &Sandbox, top: &Path, package: &Path) -> anyhow::Result<()> {
    for directory in ["var/lib/dpkg/info", "var/lib/dpkg/updates"] {
        fs::create_dir_all(top.join(directory))?;
    }
    fs::write(top.join("var/lib/dpkg/status"), "")?;
    let mut dpkg = sandbox.command("dpkg");
    dpkg.arg(format!("--root={}", top.display())).args([
        "--force-depends",
        "--force-not-root",
        "--log=/dev/null",
        "--install",
    ]);
    workspace::output(dpkg.arg(package))?;
    tell(sandbox, "Debian package", &top.join("usr/bin/helix"))?;
    for file in
        ["share/man/man1/helix.1.gz", "share/bash-completion/completions/helix", "lib/systemd/user/helix.service"]
    {
        ensure!(top.join("usr").join(file).is_file(), "Debian package: {file} is missing");
    }
    if workspace::installed("systemd-analyze") {
        // It looks for the program where the unit says, and for a directory of this user's services.
        let unit = fs::read_to_string(top.join("usr/lib/systemd/user/helix.service"))?;
        let own = top.join("helix.service");
        fs::write(&own, unit.replace("/usr/bin/helix", &top.join("usr/bin/helix").display().to_string()))?;
        let mut verify = sandbox.command("systemd-analyze");
        verify.args(["verify", "--user", "--man=no"]).arg(&own).env("XDG_RUNTIME_DIR", top);
        workspace::output(&mut verify).context("the unit of systemd is not right")?;
        println!("systemd unit: valid");
    } else {
        println!("systemd unit: skipped, systemd-analyze is not installed");
    }
    Ok(())
}
