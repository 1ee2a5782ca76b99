//! The JSON Schemas of what gate reads and prints, as text. A test of the program derives them from
//! its types and compares.

/// Defines a constant for each schema.
macro_rules! schemas {
    ($($name:ident $file:literal,)*) => {
        $(#[doc = concat!("`gate.", $file, ".v1.json`")]
        pub const $name: &str = include_str!(concat!("gate.", $file, ".v1.json"));)*
    };
}

schemas! {
    CONFIG "config",
    DECISION "decision",
    CI "ci",
    ERROR "error",
    SCAN "scan",
    CHECK_REQUEST "check.request",
    CHECK_RESULT "check.result",
    DOCTOR "doctor",
    DOCTOR_AGENT "doctor.agent",
    BREAKER "breaker",
    BASELINE "baseline",
    PLAN "plan",
    STATUS "status",
    TRUST "trust",
    APPROVE "approve",
    WRONG "wrong",
    ACCEPTED "accepted",
    PRUNE "prune",
    NOTIFY "notify",
    REPORT "report",
    RUN "run",
    EXPLAIN "explain",
    REPLAY "replay",
    REPLAY_GROUP "replay.group",
    GOAL "goal",
    SEALS "seals",
    AUDIT "audit",
    TUNE "tune",
    REPLAY_SUMMARY "replay.summary",
    EXIT_SIGNAL "exit.signal",
    EXIT_PARSE "exit.parse",
    EXIT_SUBMIT "exit.submit",
    WORK "work",
    WORK_LIST "work.list",
    WORK_LEASE "work.lease",
    HANDOFF "handoff",
}
