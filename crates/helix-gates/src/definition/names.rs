//! Files that decide by their name how a runner checks: its configuration, and what takes its place.
//!
//! Must not read files.

use std::collections::BTreeSet;

use helix_git::TreeListing;

/// Modules of Python itself and of its test runners: one of the same name in the tree is imported instead.
const PYTHON_MODULES: &str = "abc argparse array ast asynchat asyncio asyncore atexit base64 bdb binascii bisect builtins bz2 cProfile \
     calendar cgi cgitb cmath cmd code codecs codeop collections colorsys compileall concurrent configparser \
     contextlib contextvars copy copyreg csv ctypes dataclasses datetime dbm decimal difflib dis distutils doctest \
     email encodings enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools gc \
     genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib imp importlib \
     inspect io ipaddress itertools json keyword linecache locale logging lzma mailbox mailcap marshal math \
     mimetypes mmap modulefinder msvcrt multiprocessing netrc nt ntpath numbers opcode operator optparse os pathlib \
     pdb pickle pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd \
     py_compile pyclbr pydoc pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched \
     secrets select selectors shelve shlex shutil signal site smtpd smtplib socket socketserver sqlite3 sre_compile \
     sre_constants sre_parse ssl stat statistics string stringprep struct subprocess symtable sys sysconfig syslog \
     tabnanny tarfile tempfile termios textwrap threading time timeit token tokenize tomllib trace traceback \
     tracemalloc tty types typing unicodedata unittest urllib uuid warnings wave weakref webbrowser wsgiref xml \
     xmlrpc zipapp zipfile zipimport zlib zoneinfo \
     pytest _pytest pluggy iniconfig coverage pytest_asyncio pytest_cov xdist hypothesis nose tox nox";

/// Whose configuration a command reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    Python,
    Node,
    Rust,
    Go,
    Ruby,
    Php,
}

impl Family {
    /// By a program that a command or a script names.
    pub(super) fn of_program(name: &str) -> Option<Self> {
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        Some(match plain {
            "python" | "pypy" | "pytest" | "py.test" | "unittest" | "tox" | "nox" | "coverage" | "uv" | "uvx"
            | "poetry" | "hatch" | "pdm" | "pipenv" | "ruff" | "mypy" | "flake" | "pylint" | "black" | "pyright"
            | "trial" | "stestr" => Self::Python,
            "node" | "npm" | "npx" | "pnpm" | "pnpx" | "yarn" | "bun" | "bunx" | "deno" | "jest" | "vitest"
            | "mocha" | "ava" | "tap" | "tsc" | "tsx" | "ts-node" | "eslint" | "biome" | "prettier" | "karma"
            | "playwright" => Self::Node,
            "cargo" | "rustc" | "nextest" | "cross" => Self::Rust,
            "go" | "gotestsum" | "golangci-lint" | "ginkgo" => Self::Go,
            "ruby" | "bundle" | "bundler" | "rake" | "rspec" | "rails" | "minitest" | "test-unit" | "rubocop" => {
                Self::Ruby
            }
            "php" | "composer" | "phpunit" | "paratest" | "pest" | "phpstan" | "psalm" => Self::Php,
            _ => return None,
        })
    }

    /// Whether its tools read a file of this name wherever it lies.
    fn reads(self, path: &str, name: &str) -> bool {
        let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
        match self {
            Self::Python => {
                let names = [
                    "conftest.py",
                    "pytest.ini",
                    ".pytest.ini",
                    "pytest.toml",
                    ".pytest.toml",
                    "tox.ini",
                    "tox.toml",
                    "setup.cfg",
                    "pyproject.toml",
                    ".coveragerc",
                    "noxfile.py",
                    "sitecustomize.py",
                    "usercustomize.py",
                    ".python-version",
                    "mypy.ini",
                    ".mypy.ini",
                    ".flake8",
                    ".pylintrc",
                    "ruff.toml",
                    ".ruff.toml",
                    "uv.toml",
                    "pyvenv.cfg",
                ];
                names.contains(&name) || name.ends_with(".pth") || name == "__init__.py" && in_tests(path)
            }
            Self::Node => {
                let starts = [
                    "jest.config.",
                    "vitest.config.",
                    "vitest.workspace.",
                    "vite.config.",
                    ".mocharc",
                    "tsconfig",
                    "babel.config.",
                    ".babelrc",
                    ".swcrc",
                    "karma.conf.",
                    "ava.config.",
                    ".c8rc",
                    ".nycrc",
                    "playwright.config.",
                    ".eslintrc",
                    "eslint.config.",
                    ".prettierrc",
                    "prettier.config.",
                    "jasmine.",
                    ".yarnrc",
                    ".pnp.",
                    ".pnpmfile",
                    "deno.json",
                ];
                let names = [
                    "package.json",
                    ".npmrc",
                    ".nvmrc",
                    ".node-version",
                    "bunfig.toml",
                    "biome.json",
                    "biome.jsonc",
                    "mocha.opts",
                    "turbo.json",
                    "nx.json",
                    "lerna.json",
                    "npm-shrinkwrap.json",
                ];
                names.contains(&name) || begins(&starts) || path.split('/').any(|part| part == "node_modules")
            }
            Self::Rust => {
                let names = [
                    "Cargo.toml",
                    "build.rs",
                    "rust-toolchain",
                    "rust-toolchain.toml",
                    "clippy.toml",
                    ".clippy.toml",
                    "rustfmt.toml",
                    ".rustfmt.toml",
                    "nextest.toml",
                ];
                names.contains(&name) || begins(&["config"]) && path.rsplit('/').nth(1) == Some(".cargo")
            }
            Self::Go => ["go.mod", "go.work"].contains(&name) || begins(&[".golangci."]) || path.starts_with("vendor/"),
            Self::Ruby => {
                let names = ["Rakefile", "Gemfile", "gems.rb", ".ruby-version", ".simplecov"];
                let helpers = ["spec_helper.rb", "rails_helper.rb", "test_helper.rb"];
                let is_bundled = path.split('/').any(|part| part == ".bundle");
                names.contains(&name) || helpers.contains(&name) || is_bundled || begins(&[".rspec", ".rubocop"])
            }
            Self::Php => {
                let names = ["composer.json", "php.ini", ".user.ini", ".php-version", "Pest.php"];
                let starts = ["phpunit.", "phpstan.", "psalm.", ".php-cs-fixer", ".php_cs"];
                let is_first = name == "bootstrap.php" && in_tests(path) || path.starts_with("vendor/");
                names.contains(&name) || begins(&starts) || is_first
            }
        }
    }
}

/// Files that a linter or a formatter reads and nobody else, by how they begin, with a part of its name in commands.
const OF_LINTERS: [(&str, &str); 16] = [
    (".eslintrc", "eslint"),
    ("eslint.config.", "eslint"),
    (".prettierrc", "prettier"),
    ("prettier.config.", "prettier"),
    ("biome.json", "biome"),
    (".flake8", "flake8"),
    (".pylintrc", "pylint"),
    ("mypy.ini", "mypy"),
    (".mypy.ini", "mypy"),
    ("ruff.toml", "ruff"),
    (".ruff.toml", "ruff"),
    ("clippy.toml", "clippy"),
    (".clippy.toml", "clippy"),
    ("rustfmt.toml", "fmt"),
    (".rustfmt.toml", "fmt"),
    (".golangci.", "golangci"),
];
/// Files with settings of pytest, coverage and others, which the test runner of Python itself does not read.
const UNREAD_BY_UNITTEST: [&str; 5] = [".coveragerc", "setup.cfg", "tox.ini", "pytest.ini", ".pytest.ini"];
/// Parts of the names of what reads them.
const OF_SETTINGS: [&str; 12] =
    ["pytest", "py.test", "coverage", "--cov", "tox", "nox", "nose", "setup.py", "flake8", "mypy", "isort", "style"];

/// The linter or formatter that alone reads a file.
pub(super) fn linter_of(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    OF_LINTERS.into_iter().find_map(|(start, linter)| name.starts_with(start).then_some(linter))
}

/// The tools without which a file decides nothing for the tests of a command, as far as that is known.
pub(super) fn readers(path: &str, command: &str) -> Vec<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    match command.contains("-m unittest") && UNREAD_BY_UNITTEST.contains(&name) {
        true => OF_SETTINGS.to_vec(),
        false => linter_of(path).into_iter().collect(),
    }
}

/// Directories of tests by their usual names.
const TEST_DIRECTORIES: [&str; 9] =
    ["test", "tests", "__tests__", "spec", "specs", "testing", "e2e", "__mocks__", "__snapshots__"];

/// Whether a path lies in a directory of tests.
pub(crate) fn in_tests(path: &str) -> bool {
    path.rsplit('/').skip(1).any(|part| TEST_DIRECTORIES.contains(&part))
}

/// Whether a file is a test by its name.
pub(crate) fn is_test_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    match ending {
        "py" => stem.starts_with("test_") || stem.ends_with("_test") || matches!(stem, "test" | "tests"),
        "rs" => stem.ends_with("_test") || stem.ends_with("_tests") || matches!(stem, "test" | "tests"),
        "go" => stem.ends_with("_test"),
        "rb" => stem.ends_with("_spec") || stem.ends_with("_test") || stem.starts_with("test_"),
        "php" => stem.ends_with("Test"),
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => {
            [".test", ".spec", "-test", "_test"].iter().any(|end| stem.ends_with(end))
                || stem.starts_with("test-")
                || stem == "test"
        }
        _ => false,
    }
}

/// Whether a file belongs to the tests: by its name, or by where it lies.
pub(crate) fn is_test(path: &str) -> bool {
    is_test_name(path) || in_tests(path)
}

/// Whether a file says how a project is packaged, or its documents are built: no test runs it.
pub(crate) fn is_packaging(path: &str) -> bool {
    path.rsplit('/').next() == Some("setup.py")
        || path
            .strip_suffix("/conf.py")
            .is_some_and(|place| place.split('/').any(|part| matches!(part, "doc" | "docs")))
}

/// Every file that decides by its name what these tools do.
pub(super) fn by_name(files: &TreeListing, families: &BTreeSet<Family>) -> BTreeSet<String> {
    let decides = |path: &&String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        families.iter().any(|family| family.reads(path, name))
            || families.contains(&Family::Python) && (shadows(files, path, name) || is_entry_point(path))
    };
    files.keys().filter(decides).cloned().collect()
}

/// Whether a file says which code Python's tools load from where imports begin: by it, a directory of sources is an installed package. What
/// has such a directory's name may also be a link to one.
pub(super) fn is_entry_point(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let mut parts = lower.rsplit('/');
    let is_package = |part: &str| part == "egg-info" || part.ends_with(".dist-info") || part.ends_with(".egg-info");
    parts
        .next()
        .is_some_and(|name| is_package(name) || name == "entry_points.txt" && parts.next().is_some_and(is_package))
}

/// Whether Python takes this file for a module of its own or of a test runner: it lies where imports begin.
fn shadows(files: &TreeListing, path: &str, name: &str) -> bool {
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let (place, module) = match name {
        "__init__.py" | "__main__.py" => parent.rsplit_once('/').unwrap_or(("", parent)),
        _ => match name.strip_suffix(".py") {
            Some(stem) => (parent, stem),
            None => return false,
        },
    };
    let begins = place.is_empty()
        || matches!(place, "src" | "lib" | "python")
        || TEST_DIRECTORIES.contains(&place.rsplit('/').next().unwrap_or(place));
    // A module of a package has the package's name before its own.
    let of_package = !place.is_empty() && files.contains_key(&format!("{place}/__init__.py")) && !in_tests(path);
    begins && !of_package && PYTHON_MODULES.split_whitespace().any(|known| known == module)
}
