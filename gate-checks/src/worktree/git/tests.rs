//! Answers of git, its program, and the folders that it keeps.

use std::fs;

use super::*;

const PLACE: fn() -> GitPlace<'static> =
    || GitPlace { git_dir: Path::new("/git"), work_tree: Path::new("/tree"), variables: &[] };

#[track_caller]
fn check_error(code: Option<i32>, stderr: &str, expected: &str) {
    let output = GitOutput { code, stdout: Vec::new(), stderr: stderr.as_bytes().to_vec() };
    assert_eq!(output.to_error(PLACE(), &["ls-files", "-z"]).to_string(), expected);
}

#[test]
fn an_error_of_git_is_its_first_line_made_fit_to_print() {
    check_error(
        Some(128),
        "\n \nfatal: bad index\nmore\n",
        "git ls-files in /tree: fatal: bad index",
    );
    check_error(Some(2), "", "git ls-files in /tree: ended with code 2");
    check_error(None, " \n", "git ls-files in /tree: ended with a signal");
    check_error(Some(1), "a\u{1b}[31mb\tc", "git ls-files in /tree: a[31mbc");
    let long = "ü".repeat(301);
    check_error(Some(1), &long, &format!("git ls-files in /tree: {}", "ü".repeat(300)));
}

#[test]
fn the_program_is_the_first_on_the_last_path_that_may_run() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    for (name, mode) in [("plain", 0o644), ("one", 0o755), ("two", 0o755), ("tree/bin", 0o755)] {
        fs::create_dir_all(base.join(name)).unwrap();
        fs::write(base.join(name).join("git"), "").unwrap();
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(base.join(name).join("git"), permissions).unwrap();
    }
    fs::create_dir_all(base.join("folder/git")).unwrap();
    let git = |folders: &[&str]| {
        let path: Vec<_> =
            folders.iter().map(|name| base.join(name).display().to_string()).collect();
        let environment =
            [("PATH".to_owned(), "/none".to_owned()), ("PATH".to_owned(), path.join(":"))];
        Git::find(&environment, &base.join("tree")).map(|git| git.program.to_path_buf())
    };
    assert_eq!(git(&["gone", "plain", "folder", "two", "one"]), Some(base.join("two/git")));
    assert_eq!(git(&["tree/bin", "one"]), Some(base.join("one/git")));
    assert_eq!(git(&["tree/bin", "plain"]), None);
    assert!(Git::find(&[], &base).is_none());
}

#[test]
fn variables_of_git_are_left_out_of_its_environment() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("git");
    fs::write(&program, "").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().display().to_string();
    let environment = [("GIT_DIR", "/x"), ("HOME", "/h"), ("PATH", path.as_str()), ("GITHUB", "1")];
    let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let git = Git::find(&environment, Path::new("/tree")).unwrap();
    let names: Vec<_> = git.environment.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["HOME", "PATH", "GITHUB"]);
}

#[test]
fn a_git_file_names_the_folder_from_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    fs::create_dir_all(base.join("real/git dir")).unwrap();
    fs::create_dir(base.join("tree")).unwrap();
    let dot_git = base.join("tree/.git");
    let named = |text: &str| {
        fs::write(&dot_git, text).unwrap();
        git_dir(&dot_git).map_err(|error| error.to_string())
    };
    let real = Ok(base.join("real/git dir"));
    assert_eq!(named("gitdir: ../real/git dir\n"), real);
    assert_eq!(named(&format!("gitdir:{}\r\n", base.join("real/git dir").display())), real);
    let expected = "expected a git folder, or a file `gitdir: …` that names one";
    for text in ["", "gitdir: ../gone", "../real/git dir", "GITDIR: ../real/git dir"] {
        assert_eq!(named(text), Err(format!("{}: {expected}", dot_git.display())), "{text}");
    }
    assert_eq!(git_dir(&base.join("real")).unwrap(), base.join("real"));
}
