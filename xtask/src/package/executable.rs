//! The executables that are packaged: which processor they are for, and whether they need a C library of the system.
//!
//! Must not know any kind of package.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::workspace;

/// A processor that packages are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Processor {
    X86,
    Arm,
}

impl Processor {
    pub(super) const ALL: [Self; 2] = [Self::X86, Self::Arm];

    /// Its name for compilers, Python and in the names of archives.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::X86 => "x86_64",
            Self::Arm => "aarch64",
        }
    }

    pub(super) const fn node(self) -> &'static str {
        match self {
            Self::X86 => "x64",
            Self::Arm => "arm64",
        }
    }

    pub(super) const fn debian(self) -> &'static str {
        match self {
            Self::X86 => "amd64",
            Self::Arm => "arm64",
        }
    }

    pub(super) fn npm_package(self) -> String {
        format!("{}-linux-{}", super::NAME, self.node())
    }

    pub(super) fn is_native(self) -> bool {
        self.name() == std::env::consts::ARCH
    }
}

/// An executable of Helix.
#[derive(Debug)]
pub(super) struct Executable {
    pub(super) file: PathBuf,
    pub(super) processor: Processor,
    /// Whether it runs on any Linux, whatever its C library.
    pub(super) is_static: bool,
}

impl Executable {
    /// Built for a processor, without anything of the system in it.
    pub(super) fn built(processor: Processor) -> anyhow::Result<Self> {
        ensure!(
            workspace::installed("cargo-zigbuild"),
            "cargo-zigbuild, which compiles and links for other systems, is not installed\nhint: `pip install cargo-zigbuild ziglang`, and `rustup target add x86_64-unknown-linux-musl aarch64-unknown-linux-musl`"
        );
        let target = format!("{}-unknown-linux-musl", processor.name());
        let mut build = workspace::cargo();
        build.args(["zigbuild", "--release", "--locked", "--package", "helix", "--bin", "helix", "--target", &target]);
        workspace::run(&mut build)?;
        let executable = Self::read(workspace::root().join("target").join(target).join("release/helix"))?;
        ensure!(executable.is_static, "{} needs libraries of the system", executable.file.display());
        Ok(executable)
    }

    /// One that is there, without what only debuggers read.
    pub(super) fn given(file: &Path, staging: &Path) -> anyhow::Result<Self> {
        let stripped = staging.join("helix");
        workspace::run(Command::new("strip").arg("-o").arg(&stripped).arg(file))?;
        Self::read(stripped)
    }

    fn read(file: PathBuf) -> anyhow::Result<Self> {
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let (processor, is_static) = elf(&bytes).with_context(|| file.display().to_string())?;
        Ok(Self { file, processor, is_static })
    }

    /// What a wheel says it runs on (PEP 600, PEP 656); no registry takes `linux_…`.
    pub(super) fn wheel_platform(&self) -> String {
        let name = self.processor.name();
        if self.is_static {
            format!("manylinux_2_17_{name}.manylinux2014_{name}.musllinux_1_1_{name}")
        } else {
            format!("linux_{name}")
        }
    }
}

/// The processor of an executable, and whether it starts without a dynamic linker (elf(5), 64 bits, little endian).
fn elf(bytes: &[u8]) -> anyhow::Result<(Processor, bool)> {
    const MACHINE: usize = 18;
    const PROGRAM_HEADERS: usize = 32;
    const HEADER_SIZE: usize = 54;
    const INTERPRETER: u64 = 3;
    ensure!(bytes.starts_with(b"\x7fELF\x02\x01"), "it is no executable for Linux on 64 bits");
    let number = |at: usize, size: usize| {
        let read = bytes.get(at..at + size).context("it is cut off")?;
        anyhow::Ok(read.iter().rev().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte)))
    };
    let processor = match number(MACHINE, 2)? {
        62 => Processor::X86,
        183 => Processor::Arm,
        other => bail!("it is for processor {other}, for which there is no package"),
    };
    let (first, size, count) = (
        usize::try_from(number(PROGRAM_HEADERS, 8)?)?,
        usize::try_from(number(HEADER_SIZE, 2)?)?,
        number(HEADER_SIZE + 2, 2)?,
    );
    for index in 0..usize::try_from(count)? {
        if number(first + index * size, 4)? == INTERPRETER {
            return Ok((processor, false));
        }
    }
    Ok((processor, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_executable_is_for_is_read_from_itself() {
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        let (processor, is_static) = elf(&own).unwrap();
        assert!(processor.is_native());
        assert!(!is_static, "tests are linked with the C library of the system");
        let message = elf(b"#!/bin/sh\n").unwrap_err().to_string();
        assert_eq!(message, "it is no executable for Linux on 64 bits");
        assert!(elf(&own[..40]).is_err());
    }
}
