//! Settings of which one value is stricter: the way there is free, and the way back is not.

use super::*;

/// A manifest before and after it becomes stricter.
#[track_caller]
fn stricter(path: &str, before: &str, now: &str) {
    free(path, before, now);
    let back = found(path, now, before);
    assert!(!back.is_empty(), "{path}: back from {now}");
}

const PYTEST: &str = "[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n";

fn pytest(more: &str) -> String {
    format!("{PYTEST}{more}\n")
}

#[test]
fn switches_of_pytest() {
    for (weak, strict) in [
        ("", "xfail_strict = true"),
        ("xfail_strict = false", "xfail_strict = true"),
        ("xfail_strict = false", ""),
        ("", "strict = true"),
        ("", "strict_markers = true"),
        ("", "addopts = \"--strict-markers --strict-config\""),
        ("", "addopts = [\"--strict-markers\"]"),
        ("addopts = \"-q\"", "addopts = \"-q -W error\""),
        ("addopts = \"-p no:x\"", "addopts = \"-p no:x -Werror::UserWarning\""),
        ("", "filterwarnings = [\"error\"]"),
        ("filterwarnings = [\"ignore::A\"]", "filterwarnings = []"),
        ("filterwarnings = [\"ignore::A\"]", "filterwarnings = [\"ignore::A\", \"error::B\"]"),
    ] {
        stricter("pyproject.toml", &pytest(weak), &pytest(strict));
    }
    let ini = "[pytest]\ntestpaths = tests\n";
    stricter("tox.ini", ini, &format!("{ini}xfail_strict = True\n"));
    stricter("tox.ini", ini, &format!("{ini}filterwarnings =\n    error\n"));
    stricter(
        "setup.cfg",
        "[tool:pytest]\npython_files = a\n",
        "[tool:pytest]\npython_files = a\nstrict = 1\n",
    );
    assert!(runs_the_same("pytest.ini", ini, &format!("{ini}xfail_strict = true\n")));
    assert!(!runs_the_same("pytest.ini", &format!("{ini}xfail_strict = true\n"), ini));
    // Both are as strict.
    free("pyproject.toml", &pytest("addopts = \"-q\""), &pytest("addopts = \"-v --tb=short\""));
}

#[test]
fn options_that_leave_something_out_are_no_stricter() {
    for (was, now) in [
        ("", "addopts = \"--strict-markers -k 'not bad'\""),
        ("", "addopts = \"--deselect a\""),
        ("", "addopts = \"-W ignore\""),
        ("", "addopts = \"-Wignore\""),
        ("", "addopts = \"-W\""),
        ("", "addopts = \"-p no:randomly\""),
        ("", "addopts = \"--cov-fail-under=0\""),
        ("", "addopts = \"-x\""),
        ("addopts = \"-W error\"", "addopts = \"-W error -W ignore\""),
        ("addopts = \"-W error\"", "addopts = \"-W ignore\""),
        ("addopts = \"--strict-markers\"", "addopts = \"-q\""),
        ("addopts = \"--runslow\"", "addopts = \"--strict-markers\""),
        ("", "filterwarnings = [\"error\", \"ignore\"]"),
        ("filterwarnings = [\"error\"]", "filterwarnings = [\"error\", \"ignore::A\"]"),
        ("filterwarnings = [\"ignore\", \"error\"]", "filterwarnings = [\"error\", \"ignore\"]"),
        ("", "xfail_strict = \"maybe\""),
        ("", "norecursedirs = [\"tests\"]"),
    ] {
        assert!(!found("pyproject.toml", &pytest(was), &pytest(now)).is_empty(), "{was}: {now}");
    }
    // The first table of a tool may hide what another file says.
    for more in [
        "[tool.pytest.ini_options]\nxfail_strict = true\n",
        "[tool.coverage.report]\nfail_under = 10\n",
    ] {
        assert!(!found("pyproject.toml", "[project]\nname = \"a\"\n", more).is_empty(), "{more}");
    }
}

#[test]
fn thresholds_of_coverage() {
    let coverage = |more: &str| format!("[tool.coverage.run]\nsource = [\"a\"]\n{more}\n");
    let report = |under: &str| coverage(&format!("[tool.coverage.report]\nfail_under = {under}"));
    stricter("pyproject.toml", &coverage(""), &coverage("branch = true"));
    stricter("pyproject.toml", &coverage(""), &report("80"));
    stricter("pyproject.toml", &report("80"), &report("90.5"));
    let jest = |more: &str| format!("{{\"jest\": {{\"verbose\": true{more}}}}}");
    let threshold = |at: &str, number: &str| {
        jest(&format!(", \"coverageThreshold\": {{\"{at}\": {{\"lines\": {number}}}}}"))
    };
    stricter("package.json", &jest(""), &threshold("global", "80"));
    stricter("package.json", &threshold("global", "80"), &threshold("global", "90"));
    for (was, now) in [
        (jest(""), threshold("./src/", "80")),
        (threshold("global", "-10"), threshold("global", "5")),
        (threshold("global", "90"), threshold("global", "-90")),
    ] {
        assert!(!found("package.json", &was, &now).is_empty(), "{now}");
    }
    let nyc = "{\"nyc\": {\"all\": true}}";
    stricter("package.json", nyc, "{\"nyc\": {\"all\": true, \"check-coverage\": true}}");
}

#[test]
fn switches_of_runners_in_javascript() {
    for (weak, strict) in [
        ("{\"jest\": {\"a\": 1}}", "{\"jest\": {\"a\": 1, \"errorOnDeprecated\": true}}"),
        ("{\"jest\": {\"a\": 1, \"passWithNoTests\": true}}", "{\"jest\": {\"a\": 1}}"),
        ("{\"mocha\": {\"a\": 1}}", "{\"mocha\": {\"a\": 1, \"forbidOnly\": true}}"),
        ("{\"vitest\": {\"a\": 1}}", "{\"vitest\": {\"a\": 1, \"allowOnly\": false}}"),
    ] {
        stricter("package.json", weak, strict);
    }
    let config = |more: &str| {
        format!("export default {{\n  test: {{\n    globals: true,\n{more}  }},\n}}\n")
    };
    let strict = config("    passWithNoTests: false,\n");
    stricter("vite.config.ts", &config(""), &strict);
    for path in ["vitest.config.ts", "packages/a/jest.config.js", ".mocharc.json"] {
        let line = match path {
            ".mocharc.json" => "    \"forbidOnly\": true,\n",
            _ => "    passWithNoTests: false,\n",
        };
        assert!(runs_the_same(path, &config(""), &config(line)), "{path}");
        assert!(!runs_the_same(path, &config(line), &config("")), "{path}");
    }
    for (was, now) in [
        ("", "    passWithNoTests: true,\n"),
        ("", "    passWithNoTests: false, exclude: ['a'],\n"),
        ("", "    passWithNoTests: false,\n    exclude: ['a'],\n"),
        ("", "    passWithNoTests: false,\n    passWithNoTests: true,\n"),
        ("    lines: 90,\n", "    lines: 80,\n"),
        ("    exclude: [],\n", "    lines: 80,\n"),
    ] {
        assert!(!runs_the_same("vitest.config.ts", &config(was), &config(now)), "{now}");
    }
    assert!(runs_the_same(
        "jest.config.js",
        &config("    lines: 80,\n"),
        &config("    lines: 90,\n")
    ));
}
