//! What is done to gate itself, its settings, its memory and its ears.

use super::{Row, done, held};
use crate::support::{DONE, Ran, UNDONE, judge};

const RED: &str = "[checks.tests]\ncommand = [\"sh\", \"-c\", \"exit 1\"]\n";

/// A run that goes on, and then this is done.
fn after(act: &str) -> Ran {
    let ran = judge("check --json out.log", UNDONE).settings(RED).committed().code(1);
    ran.again("check --json out.log").file("out.log", DONE).setup(act).run()
}

pub(super) const ROWS: &[Row] = &[
    done("settings are made to ask for less", ["tests", "fail", ""], || {
        after("printf '[checks.tests]\\ncommand = [\"true\"]\\n' > gate.toml")
    }),
    done("settings are deleted", ["tests", "fail", ""], || after("rm gate.toml")),
    done("a setting names a trust of its own", ["tests", "fail", ""], || {
        after("printf '[trust]\\napproved = true\\n' >> gate.toml")
    }),
    done("the state is deleted", ["reason", "breaker-open", "cannot be trusted"], || {
        after("find ../home/.local/state/gate -name '*.db*' -delete")
    }),
    done("the state is emptied", ["reason", "breaker-open", "cannot be trusted"], || {
        after("find ../home/.local/state/gate -name '*.db' -exec sh -c ': > \"$1\"' x {} \\;")
    }),
    done("a command never ends", ["tests", "inconclusive", ""], || {
        let settings = "[checks.tests]\ncommand = [\"sleep\", \"600\"]\ntimeout = \"1s\"\n";
        judge("check --json out.log", DONE).settings(settings).run()
    }),
    held(
        "a command prints without end",
        ["any check", "digested, inconclusive", ""],
        "processes::a_flood_is_digested_in_little_memory",
    ),
    held(
        "settings change in the middle of a run",
        ["reason", "settings-changed", ""],
        "trust_changed::whatever_is_changed_nothing_of_it_holds",
    ),
    held(
        "settings change before a session's first stop",
        ["tests", "fail", ""],
        "trust_changed::an_agent_that_edits_gate_toml_before_its_first_stop_does_not_walk_free",
    ),
    held(
        "the ledger is lost, damaged, or an older one",
        ["breaker", "tripped", ""],
        "lost_state::what_would_pass_is_tripped",
    ),
    held(
        "records are edited, dropped, put in another order",
        ["ledger verify", "code 1", ""],
        "ledger::what_is_missing_or_in_another_order_is_named",
    ),
    held(
        "a record is forged with fitting hashes",
        ["ledger verify", "code 1", ""],
        "ledger::a_forged_record_with_fitting_hashes_is_not_what_gate_would_have_said",
    ),
    held(
        "gate is killed while it decides",
        ["runner", "no decision", ""],
        "faults::a_later_decision_survives_a_kill",
    ),
    held(
        "a loop is left without gate",
        ["loop", "stops", ""],
        "loops::a_written_loop_stops_where_gate_vanishes",
    ),
    held(
        "an operator's command is given by an agent",
        ["error", "code 2", ""],
        "operator::under_an_agents_program_every_act_refuses_and_leaves_no_trace",
    ),
    held(
        "an agent gives one from another folder, or hides its run first",
        ["error", "code 2", ""],
        "operator::an_agent_that_hides_its_run_is_known_all_the_same",
    ),
    held(
        "code under test gives an operator's command",
        ["error", "code 2", ""],
        "operator_checks::code_under_test_cannot_give_an_operators_command",
    ),
    held(
        "an agent gives one before its record names it",
        ["run", "begins later", ""],
        "run_faults::an_agent_begins_when_its_record_names_it",
    ),
    held(
        "tests print orders to the agent",
        ["feedback", "fenced as data", ""],
        "injection::an_order_to_the_agent_is_data_in_its_feedback",
    ),
    held(
        "tests print orders to a terminal or a CI",
        ["text", "cleaned", ""],
        "injection::nothing_that_gate_prints_is_an_order_to_a_terminal_or_a_ci",
    ),
    held(
        "a process goes on in the background",
        ["any check", "ended and named", ""],
        "processes::what_a_command_leaves_running_is_ended_and_named",
    ),
    held(
        "a process hides from its supervisor",
        ["any check", "inconclusive", ""],
        "processes::a_command_that_kills_its_supervisor_has_not_passed",
    ),
    held(
        "a line has no end",
        ["any check", "digested", ""],
        "processes::a_line_of_any_length_is_digested_in_little_memory",
    ),
    held(
        "a record is nested without end",
        ["reason", "signal-absent", ""],
        "hostile::deep_json_is_answered",
    ),
    held(
        "a program of a check is another",
        ["integrity", "tamper", "tool-changed"],
        "integrity::a_tool_that_is_another_is_found",
    ),
];
