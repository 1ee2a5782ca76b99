//! Words that have a meaning of their own in tests: no edit may touch them.

use super::reader::is_keyword;

/// Parts of names that assert, compare, skip, or replace something.
const SAYS: &str = "\
    assert expect should must ensure require verif check equal same match compare \
    contain close approx near toler raise throw fail skip valid diff within between mock \
    fake stub patch ignore test fixture describe snapshot panic xfail error fatal log";

/// Names of the languages and their libraries: another one in their place is another test.
const BUILT_IN: &str = "\
    abs all any append apply array bool box call cap copy count date dict drop err error \
    every exception exit filter find first float format fprintf from get getattr has \
    hasattr hash id includes index indexof int isinstance items iter join json keys last \
    len length list main make map math max min new next number object ok open parse pop \
    print promise push range reduce regexp repr replace reversed round self set setattr \
    setdefault slice some sort sorted splice split sprintf std str string strip sum \
    super symbol t this trim tuple type unwrap unwrap_or unwrap_or_default values vars \
    vec zip b it tb typeerror valueerror keyerror indexerror runtimeerror oserror \
    attributeerror rangeerror baseexception startswith endswith encode decode lower \
    upper is_ok is_err is_some is_none errors fmt strings reflect context time os sys";

/// Words that make an argument one that switches something off.
const LOOSENS: &str = "\
    tol eps delta prec places dry force default fallback exit abort strict lenient limit \
    max min quiet";

/// A name that asserts, or belongs to a framework.
pub(super) fn is_reserved(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    SAYS.split(' ').any(|part| lower.contains(part))
        || matches!(lower.as_str(), "it" | "eq" | "ne")
        || is_matcher(word)
}

/// A matcher of jest's: `toBe`, `toHaveLength`.
fn is_matcher(word: &str) -> bool {
    word.strip_prefix("to").is_some_and(|rest| rest.starts_with(char::is_uppercase))
}

pub(super) fn is_built_in(word: &str) -> bool {
    BUILT_IN.split(' ').any(|name| name == word.to_ascii_lowercase())
}

/// A name that a product may give to something, and change.
pub(super) fn is_free(word: &str) -> bool {
    !is_reserved(word) && !is_built_in(word) && !is_keyword(word) && !word.starts_with("__")
}

/// A name that an added argument may have or mention.
pub(super) fn is_harmless(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    !is_reserved(word)
        && !is_keyword(word)
        && !word.starts_with("__")
        && !LOOSENS.split(' ').any(|part| lower.contains(part))
}

/// A name for what a test expects.
pub(super) fn is_expected(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    ["expect", "want", "golden", "reference", "baseline", "truth", "oracle", "snapshot"]
        .iter()
        .any(|part| lower.contains(part))
        || matches!(lower.as_str(), "exp" | "ref" | "right")
}

/// A module that is no product: the language's, a framework, what tests rest on.
pub(super) fn is_foreign(module: &str) -> bool {
    const ROOTS: &str = "\
    abc array ast asyncio atexit base64 builtins calendar chai cmath collections \
    contextlib copy csv ctypes datetime decimal difflib enum errors fmt fractions fs \
    functools gc glob hashlib heapq importlib inspect io itertools jest json lodash \
    logging math module node numpy operator os pandas path pathlib pickle platform \
    process pytest queue random re reflect runtime shutil signal sinon socket sort \
    sqlite3 statistics std core alloc string strings strconv struct subprocess sys \
    tempfile testing textwrap threading time traceback types typing unittest unsafe util \
    uuid vi vitest vm warnings weakref zlib bun tap ava mocha underscore ramda";
    let root = module.split(['.', '/', ':']).next().unwrap_or(module);
    let lower = module.to_ascii_lowercase();
    ROOTS.split(' ').any(|name| name == root)
        || ["test", "mock", "fake", "stub", "helper", "fixture", "conftest", "support"]
            .iter()
            .any(|part| lower.contains(part))
}

/// A word that a new test may use to change what other tests see.
pub(super) fn reaches_out(word: &str) -> bool {
    const WORDS: &str = "\
    setattr delattr globals locals vars exec eval compile sys os process builtins gc \
    global nonlocal prototype globalThis window Object Reflect Proxy fs open write \
    unlink remove env unsafe static reflect atexit signal threading subprocess require \
    import importlib jest vi spyOn sinon cls init autouse set_hook hook config request \
    beforeEach afterEach chdir constructor inspect ctypes pytest_plugins Exit exit \
    fixture";
    let lower = word.to_ascii_lowercase();
    WORDS.split(' ').any(|name| name == word)
        || word.starts_with("__")
        || ["patch", "mock"].iter().any(|part| lower.contains(part))
}
