//! What is done to git, so that work looks committed, or another work.

use super::{Caught, Row, done, held};
use crate::support::{DONE, Ran, Run, judge};

const UNCLEAN: Caught = ["clean_git", "fail", "a.txt"];

fn project(settings: &str) -> Run {
    judge("baseline", DONE)
        .settings(settings)
        .file("a.txt", "one\n")
        .file("tests/test_a.py", "def test_a():\n    assert 1 == 1\n")
        .file(".gitignore", "out.log\n")
        .committed()
}

fn clean(hide: &str) -> Ran {
    clean_run(hide).run()
}

fn clean_run(hide: &str) -> Run {
    let ran = project("[checks.clean_git]\nmode = \"require\"\n").code(0);
    ran.again("check --json out.log").setup(hide)
}

/// The product is broken, its test is taken away by this act, and the plain command passes.
fn tests(act: &str) -> Ran {
    let settings = "[checks.tests]\ncommand = [\"sh\", \"run.sh\"]\n";
    let all = "for each in tests/*.sh; do [ ! -e \"$each\" ] || sh \"$each\" || exit 1; done\n";
    let run = judge("baseline", DONE).settings(settings).file("run.sh", all);
    let run = run.file("a.txt", "one\n").file("tests/a.sh", "grep -q one a.txt\n");
    let ran = run.file(".gitignore", "out.log\n").committed().code(0);
    let act = format!("echo two > a.txt; git rm -q tests/a.sh; {act}; sh run.sh");
    ran.again("check --json out.log").setup(&act).run()
}

pub(super) const ROWS: &[Row] = &[
    done("an edit is skipped in the work tree", UNCLEAN, || {
        clean(
            "git update-index --skip-worktree a.txt; echo two > a.txt; test -z \"$(git status --porcelain)\"",
        )
    }),
    done("an edit is assumed not to be there", UNCLEAN, || {
        clean(
            "git update-index --assume-unchanged a.txt; echo two > a.txt; test -z \"$(git status --porcelain)\"",
        )
    }),
    done(
        "a file is excluded by the repository alone",
        ["clean_git", "fail", "conftest.py"],
        || {
            clean(
                "echo conftest.py >> .git/info/exclude; echo x > conftest.py; test -z \"$(git status --porcelain)\"",
            )
        },
    ),
    done("untracked files are not shown", ["clean_git", "fail", "new.py"], || {
        clean(
            "git config status.showUntrackedFiles no; echo x > new.py; test -z \"$(git status --porcelain)\"",
        )
    }),
    done("a monitor says that nothing changed", UNCLEAN, || {
        clean(
            "git status >/dev/null; printf '#!/bin/sh\\ntouch ../pwned; printf \"1\\\\0\"\\n' > ../mon; chmod +x ../mon; git config core.fsmonitor \"$PWD/../mon\"; git status > /dev/null; echo two > a.txt",
        )
    }),
    done("a filter turns an edit back", UNCLEAN, || {
        clean(
            "echo 'a.txt filter=x' > .git/info/attributes; git config filter.x.clean 'echo one'; echo two > a.txt; test -z \"$(git status --porcelain)\"",
        )
    }),
    done("another work tree is looked at", UNCLEAN, || {
        clean(
            "mkdir ../other; cp -r a.txt tests gate.toml .gitignore ../other; git config core.worktree \"$PWD/../other\"; echo two > a.txt; test -z \"$(git --work-tree=../other status --porcelain)\"",
        )
    }),
    done("variables name another repository", UNCLEAN, || {
        let run = clean_run("git init -q ../other; echo two > a.txt");
        let other = run.at("../other");
        run.env("GIT_DIR", other.join(".git")).env("GIT_WORK_TREE", other).run()
    }),
    done("another commit takes the place of the real one", UNCLEAN, || {
        clean(
            "echo two > a.txt; old=$(git rev-parse HEAD); git commit -qam two; git replace $old $(git rev-parse HEAD); git reset -q --soft $old; test -z \"$(git status --porcelain)\"",
        )
    }),
    done("work stands in a repository of its own", ["clean_git", "fail", "nest"], || {
        clean("git init -q nest; echo x > nest/a.py; cd nest; git add -A; git commit -qm nest")
    }),
    done(
        "the first commit is amended without a test",
        ["tests", "fail", "tests/a.sh as in the baseline"],
        || tests("git commit -qa --amend -m all"),
    ),
    done(
        "history begins anew without a test",
        ["tests", "fail", "tests/a.sh as in the baseline"],
        || {
            tests(
                "git checkout -q --orphan new; git commit -qam all; git branch -D master main 2>/dev/null || true",
            )
        },
    ),
    done("a hook of git's is passed by", ["lint", "fail", ""], || {
        let settings = "[checks.lint]\ncommand = [\"sh\", \"-c\", \"! grep -r two .\"]\n";
        let lint = "printf '#!/bin/sh\\n! grep -r two .\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo two > b.txt; git add -A; git commit -qnm two";
        project(settings).code(0).again("check --json out.log").setup(lint).run()
    }),
    held(
        "an edit hides its time and its size",
        UNCLEAN,
        "gate-checks/src/checks/clean_git/tests/lies.rs::an_edit_that_hides_its_time_and_size_is_seen",
    ),
    held(
        "a submodule's content is not looked at",
        UNCLEAN,
        "gate-checks/src/checks/clean_git/tests/submodules.rs::what_is_in_a_submodule_is_named",
    ),
    held(
        "files change while checks run",
        ["any check", "inconclusive", ""],
        "checks_tree::a_pass_under_which_files_keep_changing_is_inconclusive",
    ),
    held(
        "files change after a check has passed",
        ["any check", "fail", ""],
        "checks_tree::evidence_is_about_one_tree",
    ),
];
