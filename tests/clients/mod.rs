//! The real clients, each with gate as its stop hook, before a model that says
//! what the test has written for it. Nothing leaves the machine.

mod beside;
mod claude_code;
mod client;
mod codex;
mod copilot;
mod decide_first;
mod droid;
mod ended;
mod gemini;
mod looped;
mod model;
mod network;
mod opencode;
mod plugins;
mod qwen;
mod scenes;
mod session;
mod tests_first;
mod wire;

/// Scenes with a client, each a test.
macro_rules! with {
    ($name:ident: $client:expr, $($scene:ident)*) => {
        mod $name {
            $(
                #[test]
                #[ignore = "starts a real client"]
                fn $scene() {
                    if crate::needs::needs($client.name) {
                        super::scenes::$scene(&$client);
                    }
                }
            )*
        }
    };
}

/// The scenes that depend on what a client does with gate's answer, and some more with some.
macro_rules! with_each {
    ($($name:ident: $client:expr, $($more:ident)*;)*) => {
        $(with! {
            $name: $client,
            mended began never_mended max_blocks stuck broken_hooks slow_check model_fails $($more)*
        })*
    };
}

/// The scenes that depend on what gate answers.
macro_rules! answers_in_each {
    ($($name:ident: $client:expr;)*) => {
        $(with! {
            $name: $client,
            not_done_yet broken_settings no_settings answers green_without_a_signal red_in_prose
            red_before only_prose
        })*
    };
}

answers_in_each! {
    answers_in_claude_code: super::claude_code::CLAUDE_CODE;
    answers_in_codex: super::codex::CODEX;
}

// Clients that get the same answers: `.ci/full clients` runs these.
answers_in_each! {
    same_answers_in_copilot: super::copilot::COPILOT;
    same_answers_in_droid: super::droid::DROID;
    same_answers_in_gemini: super::gemini::GEMINI;
    same_answers_in_qwen: super::qwen::QWEN;
}

// Gemini CLI takes any code but 0 and 1 for a refusal, also that of a program
// that is not there: with that hook it ends when its stack overflows.
with_each! {
    in_claude_code: super::claude_code::CLAUDE_CODE, missing_hook in_a_loop in_an_endless_loop
        renamed_with_its_test deleted_as_asked half_done_by_the_person flaky_test
        in_a_work_tree_of_its_own broken_in_another_work_tree waits_for_a_helper
        beside_a_server died_after_a_done two_calls_of_one_session scheduled_command goal;
    in_codex: super::codex::CODEX, missing_hook in_a_loop in_an_endless_loop goal;
    in_copilot: super::copilot::COPILOT, missing_hook;
    in_droid: super::droid::DROID, missing_hook;
    in_gemini: super::gemini::GEMINI,;
    in_qwen: super::qwen::QWEN, missing_hook;
}

// A session of OpenCode's server counts as one with a person. Each refusal begins it anew,
// and its plug-in says what becomes of a hook that fails (`install_opencode`).
with! {
    in_opencode: super::opencode::OPENCODE,
    began stuck no_settings answers green_without_a_signal red_in_prose red_before only_prose
}
