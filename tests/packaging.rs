//! The scripts in packaging/ that run on a user's machine, with a small program in gate's place.
#![cfg(target_os = "linux")]

use std::fs;

use crate::needs::root;
use crate::support::{Ran, Run};

/// A folder `release` with the archive of a program that prints its version, and a `uname` that names
/// the machine in $MACHINE.
const RELEASE: &str = r#"
mkdir -p release tools
printf '#!/bin/sh\necho "$MACHINE"\n' >tools/uname
chmod +x tools/uname
name=exit-gate-0.1.0-x86_64-unknown-linux-gnu
mkdir -p "$name/bin" "$name/share/man/man1"
printf '#!/bin/sh\necho "gate 0.1.0"\n' >"$name/bin/gate"
chmod +x "$name/bin/gate"
echo page >"$name/share/man/man1/gate.1"
pack() { tar -czf "release/$name.tar.gz" "$name"; sums; }
sums() { (cd release && sha256sum ./*.tar.gz | sed 's|\./||' >SHA256SUMS); }
pack
"#;

/// Installs into a folder whose name has a space, and ends with 99 if a failure changed anything there.
const INSTALL: &str = r#"
state() { find 'a prefix' 2>/dev/null | sort; cat 'a prefix/bin/gate' 2>/dev/null; }
before=$(state)
"$INSTALLER" --from release --prefix 'a prefix'
code=$?
[ $code = 0 ] || [ "$before" = "$(state)" ] || { state; exit 99; }
exit $code
"#;

fn install(setup: &str, machine: &str) -> Run {
    let run = Run::new("sh").args(["-c", INSTALL]).setup(&format!("{RELEASE}{setup}"));
    let tools = run.at("tools").display().to_string();
    run.env("PATH", format!("{tools}:{}", std::env::var("PATH").unwrap()))
        .env("MACHINE", machine)
        .env("INSTALLER", root().join("packaging/install.sh"))
}

#[test]
fn the_archive_is_installed_and_the_user_is_told_where() {
    let ran = install("", "Linux x86_64").code(0);
    let ran = ran.says("gate 0.1.0 is installed: ").says("Add ");
    assert!(ran.file("a prefix/bin/gate").contains("gate 0.1.0"));
    assert_eq!(ran.file("a prefix/share/man/man1/gate.1"), "page\n");
    let inside = fs::read_dir(ran.path("a prefix")).unwrap().count();
    assert_eq!(inside, 2, "a working folder was left in the prefix");
}

#[test]
fn a_newer_gate_replaces_an_older_one() {
    let old = "mkdir -p 'a prefix/bin'; echo old >'a prefix/bin/gate'";
    let ran = install(old, "Linux x86_64").code(0);
    assert!(ran.file("a prefix/bin/gate").contains("gate 0.1.0"));
}

#[track_caller]
fn refused(setup: &str, machine: &str, why: &str) {
    let old = "mkdir -p 'a prefix/bin'; echo old >'a prefix/bin/gate'\n";
    for before in ["", old] {
        let ran = install(&format!("{before}{setup}"), machine).code(1).tells(why);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert!(ran.stderr.ends_with(". Nothing was installed.\n"), "{}", ran.stderr);
    }
}

#[test]
fn what_cannot_be_installed_gets_one_sentence_and_changes_nothing() {
    let linux = "Linux x86_64";
    refused("echo >>release/$name.tar.gz", linux, "does not have the checksum in SHA256SUMS");
    refused("truncate -s 150 release/$name.tar.gz; sums", linux, "gnu.tar.gz is damaged");
    refused("rm $name/bin/gate; pack", linux, "it holds no bin/gate");
    refused("rm release/*.tar.gz", linux, "gnu.tar.gz is missing");
    refused("rm release/SHA256SUMS", linux, "release holds no SHA256SUMS");
    refused("", "Linux aarch64", "there is no archive for Linux aarch64 in release/SHA256SUMS");
    refused("", "FreeBSD amd64", "there is no archive for FreeBSD amd64");
    let two = "cp release/$name.tar.gz release/exit-gate-0.2.0-${name#*0-}.tar.gz; sums";
    refused(two, linux, "lists more than one archive");
}

#[test]
fn a_program_that_does_not_start_here_is_not_installed() {
    let old = "printf '#!/bin/sh\\necho GLIBC_2.99 not found >&2; exit 1' >$name/bin/gate; pack";
    refused(old, "Linux x86_64", "does not run on this machine: GLIBC_2.99 not found");
}

#[test]
fn a_file_in_the_place_of_a_folder_stops_the_installation_before_it_begins() {
    let share = "mkdir -p 'a prefix'; echo mine >'a prefix/share'";
    refused(share, "Linux x86_64", "share cannot be made");
    let program = "rm -rf 'a prefix'; mkdir -p 'a prefix/bin/gate'";
    refused(program, "Linux x86_64", "bin/gate is a folder");
}

#[test]
fn an_option_that_the_installer_does_not_know_is_refused() {
    let script = root().join("packaging/install.sh");
    Run::new(&script).args(["--fast"]).code(1).tells("--fast is no option");
    Run::new(&script).args(["--from"]).code(1).tells("--from needs a folder");
    Run::new(&script).args(["--help"]).code(0).says("--prefix DIR");
}

/// A program in a package of npm, in `node_modules` and started through `.bin`, as npm links it.
fn npm(program: &str, machine: &str, words: &[&str]) -> Ran {
    let program = format!("node_modules/{program}");
    let script = "#!/bin/sh\necho \"$$ $*\"; exit 3\n";
    let command = r#"node_modules/.bin/gate "$@" & wait $!; echo "$? $!""#;
    let run = Run::new("sh").args(["-c", command, "sh"]).args(words).script(&program, script);
    let bin = root().join("packaging/npm/bin");
    let link = "mkdir -p node_modules/.bin node_modules/exit-gate tools
        ln -s ../exit-gate/bin/gate node_modules/.bin/gate
        printf '#!/bin/sh\\necho \"$MACHINE\"\\n' >tools/uname; chmod +x tools/uname";
    let run = run.setup(&format!("{link}; cp -r '{}' node_modules/exit-gate/", bin.display()));
    let path = format!("{}:{}", run.at("tools").display(), std::env::var("PATH").unwrap());
    run.env("PATH", path).env("MACHINE", machine).run()
}

#[test]
fn npms_launcher_becomes_the_program_so_that_signals_and_exit_codes_are_its_own() {
    let beside = "exit-gate-linux-x64/bin/gate";
    for place in [beside, "exit-gate/node_modules/exit-gate-linux-x64/bin/gate"] {
        let ran = npm(place, "Linux x86_64", &["check", "a b"]);
        let lines: Vec<_> = ran.stdout.lines().collect();
        let [told, ended] = lines[..] else { panic!("{}{}", ran.stdout, ran.stderr) };
        let process = ended.strip_prefix("3 ").expect("the program's own code");
        assert_eq!(told, format!("{process} check a b"));
    }
}

#[test]
fn npms_launcher_says_what_is_missing() {
    let other = "exit-gate-darwin-arm64/bin/gate";
    npm(other, "Linux x86_64", &[]).tells("the package exit-gate-linux-x64 is missing");
    npm(other, "SunOS sun4v", &[]).tells("there is no package for SunOS sun4v");
}

#[test]
fn uvx_starts_the_program_beside_its_script() {
    let script = root().join("packaging/wheel/scripts/exit-gate");
    let place = format!("mkdir bin; cp '{}' tool/; ln -s ../tool/exit-gate bin/", script.display());
    let program = "#!/bin/sh\necho \"gate $*\"; exit 5\n";
    let run = Run::new("sh").args(["-c", "bin/exit-gate check 'a b'"]);
    run.script("tool/gate", program).setup(&place).code(5).stdout("gate check a b\n");
}

#[test]
fn each_platform_that_is_built_can_be_installed() {
    let read = |name: &str| fs::read_to_string(root().join("packaging").join(name)).unwrap();
    let (build, installer, launcher) = (read("build"), read("install.sh"), read("npm/bin/gate"));
    let platforms: Vec<_> =
        build.lines().filter_map(|line| line.trim().split_once(") platform=")).collect();
    assert!(platforms.len() >= 5, "{platforms:?}");
    // Both scripts need a shell, which Windows lacks.
    for (target, rest) in platforms.iter().filter(|(target, _)| !target.contains("windows")) {
        assert!(installer.contains(&format!("target={target} ;;")), "install.sh: {target}");
        let package = rest.split_whitespace().next().unwrap();
        assert!(launcher.contains(&format!("package=exit-gate-{package} ;;")), "npm: {package}");
    }
}

/// cargo strips no package that a profile has a table for, and says nothing about it.
#[test]
fn the_program_has_no_table_in_a_profile_so_that_it_is_stripped() {
    let text = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = text.parse().unwrap();
    for profile in ["release", "dist"] {
        let packages = manifest["profile"][profile]["package"].as_table().unwrap();
        assert!(!packages.contains_key("gate-cli"), "{profile}");
    }
    assert_eq!(manifest["profile"]["release"]["strip"].as_bool(), Some(true));
}

#[test]
fn a_package_that_is_not_known_is_refused() {
    let script = root().join("packaging/build");
    Run::new(&script).args(["rpm", "--out", "x"]).code(2).tells("rpm is no kind of package");
    Run::new(&script).args(["deb"]).code(2).tells("say with --out DIR");
}
