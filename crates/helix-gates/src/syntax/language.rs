//! Which language a file is in: by name, by extension, by its first line.
//!
//! Must not parse anything.

/// A language with an embedded parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
    TypeScript,
    Rust,
    Go,
    Java,
    C,
    CHeader,
    Cpp,
    Bash,
    Html,
    Css,
    Json,
    JsonWithComments,
    Json5,
    JsonLines,
    Yaml,
    Toml,
    Markdown,
}

/// JSON files that their tools read with comments and trailing commas.
const COMMENTED: [&str; 8] = [
    ".eslintrc",
    ".eslintrc.json",
    ".babelrc",
    ".swcrc",
    ".jshintrc",
    "devcontainer.json",
    "api-extractor.json",
    "deno.json",
];

impl Language {
    /// By file name; `None` when the name does not tell.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let lower = name.to_ascii_lowercase();
        let editor = matches!(directory.rsplit('/').next(), Some(".vscode" | ".devcontainer"));
        let config = (lower.starts_with("tsconfig") || lower.starts_with("jsconfig")) && lower.ends_with(".json");
        if COMMENTED.contains(&lower.as_str()) || config || (editor && lower.ends_with(".json")) {
            return Some(Self::JsonWithComments);
        }
        if matches!(lower.as_str(), ".bashrc" | ".bash_profile" | ".profile") {
            return Some(Self::Bash);
        }
        if matches!(lower.as_str(), "cargo.lock" | "poetry.lock" | "uv.lock" | "pipfile") {
            return Some(Self::Toml);
        }
        let (_, extension) = lower.rsplit_once('.')?;
        Some(match extension {
            "py" | "pyi" => Self::Python,
            "js" | "mjs" | "cjs" | "jsx" => Self::JavaScript,
            "ts" | "mts" | "cts" | "tsx" => Self::TypeScript,
            "rs" => Self::Rust,
            "go" => Self::Go,
            "java" => Self::Java,
            "c" => Self::C,
            "h" => Self::CHeader,
            "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" => Self::Cpp,
            "sh" | "bash" => Self::Bash,
            "html" | "htm" => Self::Html,
            "css" => Self::Css,
            "json" | "webmanifest" | "geojson" | "ipynb" => Self::Json,
            "jsonc" | "code-workspace" => Self::JsonWithComments,
            "json5" => Self::Json5,
            "jsonl" | "ndjson" => Self::JsonLines,
            "yaml" | "yml" => Self::Yaml,
            "toml" => Self::Toml,
            "md" | "markdown" => Self::Markdown,
            _ => return None,
        })
    }

    /// True when the name has an extension, so that the first line need not be looked at.
    pub(crate) fn has_extension(path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.trim_start_matches('.').contains('.')
    }

    /// By the interpreter that the first line names.
    pub(crate) fn of_shebang(bytes: &[u8]) -> Option<Self> {
        let line = bytes.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
        let line = std::str::from_utf8(line).ok()?;
        let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
        let first = words.next()?;
        let program =
            if first == "env" { words.find(|word| !word.starts_with('-') && !word.contains('='))? } else { first };
        let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        match program {
            "python" | "pypy" => Some(Self::Python),
            "node" | "bun" => Some(Self::JavaScript),
            "deno" | "ts-node" | "tsx" => Some(Self::TypeScript),
            "sh" | "bash" | "dash" | "ash" => Some(Self::Bash),
            _ => None,
        }
    }

    /// Whether the parser may stumble over what its language's own compiler accepts.
    pub(crate) fn is_tolerant(self) -> bool {
        match self {
            Self::Go | Self::Java | Self::C | Self::CHeader | Self::Cpp | Self::Bash | Self::Html | Self::Css => true,
            Self::Python
            | Self::JavaScript
            | Self::TypeScript
            | Self::Rust
            | Self::Json
            | Self::JsonWithComments
            | Self::Json5
            | Self::JsonLines
            | Self::Yaml
            | Self::Toml
            | Self::Markdown => false,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        self.words().0
    }

    /// Rule of its findings.
    pub(crate) fn rule(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Python => ("Python", "syntax.python"),
            Self::JavaScript => ("JavaScript", "syntax.javascript"),
            Self::TypeScript => ("TypeScript", "syntax.typescript"),
            Self::Rust => ("Rust", "syntax.rust"),
            Self::Go => ("Go", "syntax.go"),
            Self::Java => ("Java", "syntax.java"),
            Self::C | Self::CHeader => ("C", "syntax.c"),
            Self::Cpp => ("C++", "syntax.cpp"),
            Self::Bash => ("Bash", "syntax.bash"),
            Self::Html => ("HTML", "syntax.html"),
            Self::Css => ("CSS", "syntax.css"),
            Self::Json => ("JSON", "syntax.json"),
            Self::JsonWithComments => ("JSON with comments", "syntax.json"),
            Self::Json5 => ("JSON5", "syntax.json"),
            Self::JsonLines => ("JSON lines", "syntax.json"),
            Self::Yaml => ("YAML", "syntax.yaml"),
            Self::Toml => ("TOML", "syntax.toml"),
            Self::Markdown => ("front matter", "syntax.markdown"),
        }
    }
}
