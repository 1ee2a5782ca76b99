//! The languages of files, by their names, and the ways in which they write comments and strings.

/// A language, as far as comments, strings and tests tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    Js,
    /// Go.
    Go,
    /// Java.
    Java,
    /// Kotlin.
    Kotlin,
    /// C#.
    CSharp,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// Shells, and bats.
    Shell,
    /// C and C++.
    C,
    /// Makefiles and justfiles.
    Make,
    /// YAML.
    Yaml,
}

impl Language {
    /// The language of a file of this name; none if gate knows none.
    pub fn from_path(path: &str) -> Option<Self> {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        if matches!(name, "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile") {
            return Some(Self::Make);
        }
        match name.rsplit_once('.')?.1 {
            "rs" => Some(Self::Rust),
            "py" | "pyi" | "pyw" => Some(Self::Python),
            "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "vue" | "svelte" => {
                Some(Self::Js)
            }
            "go" => Some(Self::Go),
            "java" => Some(Self::Java),
            "kt" | "kts" | "groovy" | "gradle" => Some(Self::Kotlin),
            "cs" => Some(Self::CSharp),
            "rb" | "rake" => Some(Self::Ruby),
            "php" => Some(Self::Php),
            "sh" | "bash" | "zsh" | "bats" => Some(Self::Shell),
            "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" => Some(Self::C),
            "mk" | "just" => Some(Self::Make),
            "yml" | "yaml" => Some(Self::Yaml),
            _ => None,
        }
    }

    /// The name that the pack uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::Js => "js",
            Self::Go => "go",
            Self::Java => "java",
            Self::Kotlin => "kotlin",
            Self::CSharp => "csharp",
            Self::Ruby => "ruby",
            Self::Php => "php",
            Self::Shell => "shell",
            Self::C => "c",
            Self::Make => "make",
            Self::Yaml => "yaml",
        }
    }

    /// The marks of a comment that ends with its line.
    pub(super) fn line_comments(self) -> &'static [&'static str] {
        match self {
            Self::Python | Self::Ruby | Self::Shell | Self::Make | Self::Yaml => &["#"],
            Self::Php => &["//", "#"],
            _ => &["//"],
        }
    }

    /// `/*` begins a comment.
    pub(super) fn has_blocks(self) -> bool {
        !matches!(self, Self::Python | Self::Ruby | Self::Shell | Self::Make | Self::Yaml)
    }

    /// Comments nest.
    pub(super) fn nests(self) -> bool {
        matches!(self, Self::Rust | Self::Kotlin)
    }

    /// Three quotes in a row begin a string of many lines.
    pub(super) fn triples(self) -> bool {
        matches!(self, Self::Python | Self::Java | Self::Kotlin | Self::CSharp)
    }

    /// A string in these quotes goes on over lines.
    pub(super) fn goes_on(self, quote: u8) -> bool {
        match self {
            Self::Rust => quote == b'"',
            Self::Ruby | Self::Php | Self::Shell => true,
            Self::Js | Self::Go => quote == b'`',
            _ => false,
        }
    }

    /// A `'` holds one character alone, and may be something else.
    pub(super) fn has_characters(self) -> bool {
        matches!(self, Self::Rust | Self::Go | Self::Java | Self::Kotlin | Self::CSharp | Self::C)
    }

    /// A comment's mark counts only at the beginning of a word.
    pub(super) fn words(self) -> bool {
        matches!(self, Self::Shell | Self::Make | Self::Yaml)
    }

    /// Indentation makes blocks.
    pub(super) fn indents(self) -> bool {
        matches!(self, Self::Python | Self::Yaml)
    }
}
