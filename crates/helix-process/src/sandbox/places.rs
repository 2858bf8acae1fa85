//! What every run needs of the machine: the system, the toolchains that its environment names, the caches of their tools.
//!
//! Must not know what a run is for.

use std::fs;
use std::path::{Path, PathBuf};

use crate::invocation::Invocation;
use crate::program::find_program;

/// What programs are made of. Of `/var` only what programs look up; nothing of homes, `/tmp` and `/run`.
const SYSTEM: [&str; 24] = [
    "/bin",
    "/sbin",
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix",
    "/gnu",
    "/snap",
    "/sys",
    "/proc",
    "/var/cache/fontconfig",
    "/var/cache/man",
    "/var/lib/ca-certificates",
    "/var/lib/dpkg",
    "/var/lib/texmf",
    "/run/current-system",
    "/run/opengl-driver",
    "/run/wrappers",
    "/run/systemd/resolve",
    "/run/nscd",
];

/// What tools keep in a home and only read: programs and their settings, without those that hold keys
/// (`~/.cargo/credentials.toml`, `~/.npmrc`, `~/.netrc`).
const HOME_READABLE: [&str; 36] = [
    ".gitconfig",
    ".gitignore",
    ".config/git/config",
    ".config/git/ignore",
    ".config/git/attributes",
    ".config/helix/skills",
    ".config/helix/workflows",
    ".config/helix/experts.toml",
    ".cargo/bin",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".rustup",
    ".pyenv",
    ".rbenv",
    ".nvm",
    ".volta",
    ".asdf",
    ".sdkman",
    ".deno",
    ".bun",
    ".dotnet",
    ".ghcup",
    ".juliaup",
    "go/bin",
    ".local/bin",
    ".local/lib",
    ".local/share/claude",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/uv",
    ".local/share/virtualenvs",
    ".cache/ms-playwright",
    ".cache/puppeteer",
];

/// Variables that name places of toolchains, or several with `:` between them.
const TOOL_VARIABLES: [&str; 16] = [
    "PATH",
    "LD_LIBRARY_PATH",
    "RUSTUP_HOME",
    "JAVA_HOME",
    "GOROOT",
    "NVM_DIR",
    "NODE_PATH",
    "NODE_EXTRA_CA_CERTS",
    "PNPM_HOME",
    "VIRTUAL_ENV",
    "PYENV_ROOT",
    "PYTHONPATH",
    "CONDA_PREFIX",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_CONFIG_GLOBAL",
];

/// A cache that a tool cannot work without: the variable that names it or the directory it is in, what is added to that, its
/// place in a home (`~/.cache` is that of `XDG_CACHE_HOME`), and the tool.
struct Cache(&'static str, &'static str, &'static str, &'static str);

const CACHES: [Cache; 20] = [
    Cache("CARGO_HOME", "registry", ".cargo/registry", "cargo"),
    Cache("CARGO_HOME", "git", ".cargo/git", "cargo"),
    Cache("npm_config_cache", "", ".npm", "npm"),
    Cache("YARN_CACHE_FOLDER", "", ".cache/yarn", "yarn"),
    Cache("YARN_GLOBAL_FOLDER", "", ".yarn/berry", "yarn"),
    Cache("", "", ".local/share/pnpm/store", "pnpm"),
    Cache("", "", ".cache/pnpm", "pnpm"),
    Cache("PIP_CACHE_DIR", "", ".cache/pip", "pip"),
    Cache("UV_CACHE_DIR", "", ".cache/uv", "uv"),
    // Beside them are the environments of other projects.
    Cache("POETRY_CACHE_DIR", "cache", ".cache/pypoetry/cache", "poetry"),
    Cache("POETRY_CACHE_DIR", "artifacts", ".cache/pypoetry/artifacts", "poetry"),
    // With it, Poetry makes environments.
    Cache("VIRTUALENV_OVERRIDE_APP_DATA", "", ".cache/virtualenv", "poetry"),
    Cache("GOCACHE", "", ".cache/go-build", "go"),
    Cache("GOMODCACHE", "", "go/pkg", "go"),
    Cache("GOPATH", "pkg", "go/pkg", "go"),
    Cache("GRADLE_USER_HOME", "caches", ".gradle/caches", "gradle"),
    Cache("GRADLE_USER_HOME", "daemon", ".gradle/daemon", "gradle"),
    Cache("GRADLE_USER_HOME", "native", ".gradle/native", "gradle"),
    Cache("", "", ".m2/repository", "mvn"),
    Cache("BUN_INSTALL_CACHE_DIR", "", ".bun/install/cache", "bun"),
];

/// Files by which cargo takes turns.
const CARGO_LOCKS: [&str; 2] = [".package-cache", ".package-cache-mutate"];

/// What only the machine's owner may read, and a run of root could.
const OF_ROOT: [&str; 6] =
    ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d"];

/// The places of one run's machine and user.
pub(super) struct Places<'a> {
    invocation: &'a Invocation,
    /// What the run itself, or one before it, may have filled with links: nothing that is found there opens anything.
    doubtful: &'a [PathBuf],
    home: Option<PathBuf>,
    /// What no path may lead to by being above it.
    hidden: Vec<PathBuf>,
}

impl<'a> Places<'a> {
    pub(super) fn new(
        invocation: &'a Invocation,
        doubtful: &'a [PathBuf],
        state: &Path,
        more_hidden: &[PathBuf],
    ) -> Self {
        let mut hidden = vec![state.to_owned()];
        hidden.extend(more_hidden.iter().filter_map(|path| path.canonicalize().ok()));
        if rustix::process::geteuid().is_root() {
            hidden.extend(OF_ROOT.map(PathBuf::from));
            let keys = fs::read_dir("/etc/ssh").into_iter().flatten().flatten().map(|entry| entry.path());
            hidden.extend(keys.filter(|path| path.to_string_lossy().ends_with("_key")));
        }
        let mut places = Self { invocation, doubtful, home: None, hidden };
        let home = places.variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        places.home = home.and_then(|home| home.canonicalize().ok());
        places
    }

    fn variable(&self, name: &str) -> Option<&'a str> {
        let found = self.invocation.env.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// A path without links; where it leads to something hidden, all that lies beside that instead. Nothing if it does not exist.
    pub(super) fn resolved(&self, path: &Path) -> Vec<PathBuf> {
        path.canonicalize().map(|path| self.open_below(path)).unwrap_or_default()
    }

    /// The same of a path that has no links.
    fn open_below(&self, path: PathBuf) -> Vec<PathBuf> {
        if !self.hidden.iter().any(|hidden| hidden.starts_with(&path)) {
            return vec![path];
        }
        if self.hidden.contains(&path) {
            return Vec::new();
        }
        let entries = fs::read_dir(&path).into_iter().flatten().flatten();
        // A link is followed by who opens it, and judged by where it leads.
        let places = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
        places.flat_map(|entry| self.open_below(entry.path())).collect()
    }

    /// What programs are made of, and where names are looked up.
    pub(super) fn system(&self) -> Vec<PathBuf> {
        let names = ["/etc/resolv.conf", "/etc/localtime", "/etc/hosts"];
        SYSTEM.iter().chain(&names).flat_map(|path| self.resolved(Path::new(path))).collect()
    }

    /// Where the programs are that the environment names, and what tools keep in the home.
    pub(super) fn toolchains(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        if let Some(home) = &self.home {
            found.extend(HOME_READABLE.map(|path| home.join(path)));
        }
        for name in TOOL_VARIABLES {
            let paths = self.variable(name).map(std::env::split_paths).into_iter().flatten();
            found.extend(paths.filter(|path| self.is_trusted(path)).map(|path| self.root_of(&path)));
        }
        let search = self.variable("PATH").unwrap_or_default();
        let program = find_program(&self.invocation.program, search, &self.invocation.cwd).ok();
        let python = self.variable("VIRTUAL_ENV").map(|venv| Path::new(venv).join("bin/python"));
        for program in program.into_iter().chain(python).filter(|program| self.is_trusted(program)) {
            // Both the name and what it leads to: programs look for their files beside either.
            found.push(program.clone());
            let real = program.canonicalize().ok();
            found.extend(real.iter().filter_map(|real| real.parent()).map(|parent| self.root_of(parent)));
        }
        found.retain(|path| self.is_below_home_or_beside(path));
        found.iter().flat_map(|path| self.resolved(path)).collect()
    }

    /// Whether a path is one that no run could have made lead elsewhere.
    fn is_trusted(&self, path: &Path) -> bool {
        let doubtful = || self.doubtful.iter().chain([&self.invocation.cwd]);
        path.is_absolute() && !doubtful().any(|place| path.starts_with(place))
    }

    /// The installation that a directory of programs belongs to: `X` of `X/bin`, the modules of `X/node_modules/…`.
    fn root_of(&self, directory: &Path) -> PathBuf {
        let modules = directory.ancestors().filter(|path| path.ends_with("node_modules")).last();
        let of_bin = directory
            .parent()
            .filter(|_| directory.file_name().is_some_and(|name| name == "bin" || name == "sbin" || name == "shims"));
        // `~/.cargo` has credentials, and `~/.local` what all programs of the desktop keep.
        let keeps_more = |root: &&Path| root.ends_with(".cargo") || root.ends_with(".local");
        let of_bin = of_bin.filter(|root| !keeps_more(root));
        let root = modules.or(of_bin).filter(|root| self.is_below_home_or_beside(root));
        root.unwrap_or(directory).to_owned()
    }

    /// Whether a path opens neither the whole disk nor the whole home.
    fn is_below_home_or_beside(&self, path: &Path) -> bool {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let above = |place: &Path| place.starts_with(&real);
        real.parent().is_some() && !self.home.as_deref().is_some_and(above) && real != Path::new("/home")
    }

    /// The caches of tools that are there; those that a tool would make itself in the home are made for it, since it could not.
    pub(super) fn caches(&self) -> Vec<PathBuf> {
        let search = self.variable("PATH").unwrap_or_default();
        let has = |tool: &str| find_program(Path::new(tool), search, Path::new("/")).is_ok();
        let mut found = Vec::new();
        for Cache(variable, below, at_home, tool) in &CACHES {
            let named =
                self.variable(variable).map(|path| Path::new(path).join(below)).filter(|path| path.is_absolute());
            let Some(path) = named.or_else(|| self.at_home(at_home)) else { continue };
            if path.is_dir() || has(tool) && fs::create_dir_all(&path).is_ok() {
                found.push(path);
            }
        }
        let cargo = self.variable("CARGO_HOME").map(PathBuf::from).or_else(|| self.at_home(".cargo"));
        if let Some(cargo) = cargo.filter(|cargo| cargo.is_absolute() && cargo.join("registry").is_dir()) {
            for lock in CARGO_LOCKS.map(|lock| cargo.join(lock)) {
                let made = fs::OpenOptions::new().create(true).append(true).open(&lock);
                found.extend(made.is_ok().then_some(lock));
            }
        }
        found.retain(|path| self.is_below_home_or_beside(path));
        found.iter().flat_map(|path| self.resolved(path)).collect()
    }

    fn at_home(&self, path: &str) -> Option<PathBuf> {
        let cache = self.variable("XDG_CACHE_HOME").filter(|cache| Path::new(cache).is_absolute());
        match (path.strip_prefix(".cache/"), cache) {
            (Some(rest), Some(cache)) => Some(Path::new(cache).join(rest)),
            _ => Some(self.home.as_ref()?.join(path)),
        }
    }
}

/// These paths without those below another of them or of the others, in order.
pub(super) fn outermost(mut paths: Vec<PathBuf>, others: &[PathBuf]) -> Vec<PathBuf> {
    paths.sort();
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in paths {
        let covered = kept.last().into_iter().chain(others).any(|above| path.starts_with(above));
        if !covered {
            kept.push(path);
        }
    }
    kept
}

#[cfg(test)]
#[path = "places_test.rs"]
mod tests;
