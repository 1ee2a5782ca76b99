//! Which of several sources of settings wins.

use super::{project, resolved};
use crate::config::{ConfigWarning, Layer, Origin, RawConfig, Resolved, environment, resolve};
use crate::decide::policy::{Mode, Policy, Spelling, Threshold, When};

fn user(text: &str) -> Layer {
    Layer::parse(Origin::User("config.toml".into()), text).unwrap()
}

fn variables(pairs: &[(&str, &str)]) -> Option<Layer> {
    let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    environment(pairs).unwrap()
}

fn origin(resolved: &Resolved, key: &str) -> (String, Option<usize>) {
    let setting = resolved.settings().into_iter().find(|setting| setting.key == key).unwrap();
    (setting.origin.to_string(), setting.line)
}

#[test]
fn later_layers_win_key_by_key() {
    let user = user("[breaker]\nno_exit = 7\nrefused = 9\n[tree]\nignore = [\"a\", \"b\"]\n");
    let project = project("[breaker]\nrefused = 2\n[tree]\nignore = [\"c\"]\n").unwrap();
    let resolved = resolve(&[user, project], None).unwrap();
    let breaker = resolved.policy.breaker;
    assert_eq!((breaker.no_exit, breaker.refused, breaker.same_error), (7, 2, 5));
    assert_eq!(resolved.policy.tree.ignore, ["c"]);
    assert_eq!(origin(&resolved, "breaker.no_exit"), ("config.toml".to_owned(), Some(2)));
    assert_eq!(origin(&resolved, "breaker.refused"), ("gate.toml".to_owned(), Some(2)));
    assert_eq!(origin(&resolved, "breaker.same_error").0, "default");
}

#[test]
fn checks_merge_by_name() {
    let user = user("[checks.tests]\ntimeout = \"5m\"\ncommand = [\"a\"]\n[checks.clean_git]\n");
    let project = project("[checks.tests]\ncommand = [\"b\", \"c\"]\n[checks.review]\n").unwrap();
    let policy = resolve(&[user, project], None).unwrap().policy;
    let tests = &policy.checks["tests"];
    assert_eq!((tests.timeout_ms, tests.mode, tests.retry), (300_000, Mode::Require, 0));
    assert_eq!(tests.command, ["b", "c"]);
    assert_eq!(tests.when, [When::Check, When::Run, When::Hook]);
    assert_eq!(policy.checks["clean_git"].mode, Mode::Count);
    assert_eq!(policy.checks["review"].mode, Mode::Count);
    assert_eq!(policy.checks["review"].timeout_ms, 600_000);
}

#[test]
fn the_threshold_is_reachable_unless_someone_sets_it() {
    let check = |text: &str, expected: Threshold, in_force: u32| {
        let policy = resolved(text).policy;
        assert_eq!(
            (policy.exit_gate.threshold, policy.threshold_in_force()),
            (expected, in_force),
            "{text}"
        );
    };
    check("", Threshold::Reachable, 1);
    check("[checks.tests]\n", Threshold::Reachable, 1);
    check("[checks]\ntests.mode = \"warn\"\nbuild.mode = \"count\"\n", Threshold::Reachable, 1);
    check("[checks.a]\n[checks.b]\n[checks.c]\n", Threshold::Reachable, 2);
    check("[exit_gate]\nindicator_threshold = 0\n", Threshold::Fixed(0), 0);
    assert_eq!(Policy::default().exit_gate.threshold, Threshold::Fixed(2));
    let mut reachable = Policy::default();
    reachable.exit_gate.threshold = Threshold::Reachable;
    assert_eq!(reachable, resolved("").policy);
}

#[test]
fn variables_lie_above_files_and_below_flags() {
    let file = project("[exit_gate]\nindicator_threshold = 3\n").unwrap();
    let gate = variables(&[("CUB_EXIT_THRESHOLD", "4"), ("GATE_EXIT_THRESHOLD", "5")]).unwrap();
    let layers = [file, gate, Layer::flags(Some(1))];
    let with_variable = resolve(&layers[..2], None).unwrap();
    assert_eq!(with_variable.policy.exit_gate.threshold, Threshold::Fixed(5));
    let variable = "GATE_EXIT_THRESHOLD".to_owned();
    let warning = ConfigWarning::ThresholdFromEnvironment { variable, value: 5 };
    assert_eq!(
        warning.to_string(),
        "the indicator threshold 5 comes from the environment variable GATE_EXIT_THRESHOLD"
    );
    assert_eq!(with_variable.warnings, [warning]);
    let with_flag = resolve(&layers, None).unwrap();
    assert_eq!(with_flag.policy.exit_gate.threshold, Threshold::Fixed(1));
    assert_eq!(with_flag.warnings, []);
    assert_eq!(origin(&with_flag, "exit_gate.indicator_threshold").0, "--exit-threshold");
}

#[test]
fn the_seeds_variable_counts_and_an_empty_one_does_not() {
    let threshold = |pairs: &[(&str, &str)]| {
        let layer = variables(pairs)?;
        Some(resolve(&[layer], None).unwrap().policy.exit_gate.threshold)
    };
    assert_eq!(threshold(&[("CUB_EXIT_THRESHOLD", "3")]), Some(Threshold::Fixed(3)));
    assert_eq!(
        threshold(&[("GATE_EXIT_THRESHOLD", ""), ("CUB_EXIT_THRESHOLD", "3")]),
        Some(Threshold::Fixed(3))
    );
    assert_eq!(threshold(&[("CUB_EXIT_THRESHOLD", ""), ("PATH", "1")]), None);
    // An environment may name a variable twice.
    let twice = [("GATE_EXIT_THRESHOLD", "2"), ("GATE_EXIT_THRESHOLD", "9")];
    assert_eq!(threshold(&twice), Some(Threshold::Fixed(2)));
    assert_eq!(Layer::flags(None).raw(), &RawConfig::default());
}

const RESEARCH: &str = "\
[exit_gate]
indicator_threshold = 2
[checks.tests]
command = [\"cargo\", \"test\"]
[task_types.research]
exit_gate.indicator_threshold = 1
checks.tests.mode = \"warn\"
progress = \"none\"
";

#[test]
fn a_task_type_lies_over_all_files() {
    let plain = resolved(RESEARCH).policy;
    assert_eq!((plain.exit_gate.threshold, plain.breaker.no_progress), (Threshold::Fixed(2), 3));
    let layers = [user(RESEARCH), project("[exit_gate]\nindicator_threshold = 4\n").unwrap()];
    let research = resolve(&layers, Some("research")).unwrap();
    assert_eq!(research.policy.exit_gate.threshold, Threshold::Fixed(1));
    assert_eq!(research.policy.breaker.no_progress, 0);
    assert_eq!(research.policy.checks["tests"].mode, Mode::Warn);
    assert_eq!(research.policy.checks["tests"].command, ["cargo", "test"]);
    assert_eq!(
        origin(&research, "exit_gate.indicator_threshold"),
        ("config.toml".to_owned(), Some(6))
    );
    assert_eq!(origin(&research, "breaker.no_progress"), ("config.toml".to_owned(), Some(8)));
}

#[test]
fn a_flag_lies_over_a_task_type() {
    let layers = [project(RESEARCH).unwrap(), Layer::flags(Some(6))];
    let policy = resolve(&layers, Some("research")).unwrap().policy;
    assert_eq!(policy.exit_gate.threshold, Threshold::Fixed(6));
}

#[test]
fn a_later_file_overrides_a_task_types_progress() {
    let later = project("[task_types.research]\nprogress = \"tree\"\n").unwrap();
    let policy = resolve(&[user(RESEARCH), later], Some("research")).unwrap().policy;
    assert_eq!(policy.breaker.no_progress, 3);
}

#[test]
fn everything_else_arrives() {
    let resolved = resolved(
        "[signal]\naccept = [\"exit_status\"]\ntoken = \"required\"\n\
         agent_override = \"high-confidence\"\n\
         custom = [{ literal = \"over\", value = \"complete\" }]\n\
         [budget]\ncost_usd = 2.5\nwall = \"8h\"\ntokens = 1000000\n\
         [hook]\njudge = \"never\"\nmax_blocks = 3\n[run]\nfolder = \"/runs\"\nmax_depth = 2\n\
         [checks.ci]\nshell = true\ncommand = [\"make ci | tee log\"]\n[work]\nci = [\"ci\"]\n\
         [checks.acceptance_criteria]\nfiles = [\"plan.md\"]\noptional = [\"Later\"]\n\
         [checks.clean_git]\nignore = [\"*.log\"]\n[project]\nid = \"acme/shop\"\n",
    );
    let policy = resolved.policy;
    assert_eq!(policy.signal.accept, [Spelling::ExitStatus, Spelling::Custom]);
    assert_eq!(policy.budget.cost_micro_usd, 2_500_000);
    assert_eq!((policy.budget.wall_ms, policy.budget.tokens), (28_800_000, 1_000_000));
    assert_eq!(policy.hook.max_blocks, 3);
    assert_eq!((resolved.run.folder.as_deref(), resolved.run.max_depth), (Some("/runs"), 2));
    assert_eq!(resolved.work.ci, ["ci"]);
    assert_eq!(policy.checks["acceptance_criteria"].files, ["plan.md"]);
    assert_eq!(policy.checks["clean_git"].ignore, ["*.log"]);
    assert_eq!(policy.project.id.as_deref(), Some("acme/shop"));
}
