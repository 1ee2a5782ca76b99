//! Judges the text after a candidate: does the agent take the candidate back, show it to
//! be an example, or go on with other work?

use super::marker::Marker;
use crate::decide::expression::{Expression, without};

/// The lines after a candidate that are read.
const MAX_LINES_AFTER: usize = 200;

/// The distance in lines within which a text can still explain an example.
const EXAMPLE_LINES: usize = 3;

/// Why the lines after a candidate forbid it, whatever its spelling.
pub(super) fn objection<'t>(lines: impl Iterator<Item = &'t str>) -> Option<&'static str> {
    // "Wait" or "Oops" alone takes nothing back: agents think aloud and then find that all
    // is well. Only with open work in the same or a later line does it. "But" and "Note" are
    // weaker still, and count with open work on their own line alone.
    let mut wavered = false;
    for (at, line) in lines.take(MAX_LINES_AFTER).enumerate() {
        if at == 0 && GOES_ON.is_match(line) {
            return Some("the sentence around it goes on after it");
        }
        if at < EXAMPLE_LINES && OTHERWISE.is_match(line) {
            return Some("the text after it shows that it is an example");
        }
        wavered |= WAVERS.is_match(line);
        let stumbled = wavered || STUMBLES.is_match(line);
        if RETRACTION.is_match(line) || (stumbled && is_open_work(line)) {
            return Some("the agent takes it back in the text after it");
        }
    }
    None
}

/// True if any of the lines is about the next work, or about work that is still open.
pub(super) fn is_about_work<'t>(lines: impl Iterator<Item = &'t str>) -> bool {
    let mut listing = false;
    for line in lines.take(MAX_LINES_AFTER) {
        if is_next_work(line)
            || is_open_work(line)
            || (listing && ITEM.is_match(line) && !NO_ITEM.is_match(line))
        {
            return true;
        }
        listing = REMAINING_HEADING.is_match(line);
    }
    false
}

pub(super) fn is_next_work(text: &str) -> bool {
    NEXT_WORK.is_match(text) && !SUMMARY.is_match(text) && !NOTHING.is_match(text)
}

/// True if a text says that work is open or that something fails.
pub(super) fn is_open_work(text: &str) -> bool {
    let is_open =
        |text: &str| OPEN_WORK.is_match(text) && !NOTHING.is_match(text) && !PRODUCT.is_match(text);
    // A quoted label such as "2 tasks left" belongs to the product. It counts only if the
    // text says the same outside of the quotation.
    is_open(text) && (!text.contains(['"', '“']) || is_open(&without(&QUOTED, text)))
}

/// The line on which a runner begins another iteration in one log.
pub(super) fn begins_iteration(line: &str) -> bool {
    // Most lines do not even name one, and a separator is short.
    line.len() <= 160
        && ITERATION_NAMES.iter().any(|name| name.stands_in(line))
        && ITERATION.is_match(line)
}

/// The offsets at which a text names an iteration or a speaker, in order.
pub(super) fn names_iteration(text: &str) -> Vec<usize> {
    let mut places: Vec<_> = ITERATION_NAMES.iter().flat_map(|name| name.places(text)).collect();
    places.sort_unstable();
    places
}

/// Texts of which each line that begins an iteration contains one.
const ITERATION_NAMES: [Marker; 4] = [
    Marker::new("iteration", 3),
    Marker::new("loop", 3),
    Marker::new("human:", 5),
    Marker::new("user:", 4),
];

/// A line that goes on with the sentence above what it follows.
static GOES_ON: Expression =
    Expression::new(r"^(?-i:but|or|and|when|where|which|because|is|was|as soon as)\s");

/// The agent stumbles over something.
static WAVERS: Expression = Expression::new(
    r"^(?:[^\w\s-]|\s)*(?:wait|hold on|oops|hmm+|actually|correction|on second thought|scratch that|espera|moment)\b|^\W*等等",
);

/// A stumble that counts only with open work on its own line.
static STUMBLES: Expression = Expression::new(r"^(?:[^\w\s-]|\s)*(?:sorry|but|note|however)\b");

/// Sentences about the product, which name failures and open items without leaving any: a
/// feature that counts "remaining" tasks, an error that was mended.
static PRODUCT: Expression = Expression::new(
    r"^[^a-z_]*(?:\*\*[^*]+\*\*\W*)?(?:fix(?:ed|es)?|add(?:ed|s)|implement(?:ed|s)|resolv(?:ed|es)|handle[sd]?|marks?|marked|toggles?|filters?|shows?|displays?|lists?|sends?|retr(?:y|ies)|returns?|exits?|stops?|seeded|badge|banner|footer|counter|error (?:toast|message)|account|root cause|before:)\b|\b(?:if|when|how many|number of|that (?:is|are)|while|because|no longer|now (?:pass|work|use)\w*|now it|fixed)\b|\b[45]\d\d\b",
);

static QUOTED: Expression = Expression::new(r"\x22[^\x22]*\x22|“[^”]*”");

static OTHERWISE: Expression = Expression::new(
    r"^[^a-z_]*(?:otherwise\b|or else\b|if (?:not,|(?:any|some) (?:work|tasks?|stor\w+|items?) (?:remain|is|are)|(?:work|tasks?) remain|there (?:is|are) (?:still )?(?:work|tasks?|stor\w+|items?))|replace (?:complete|true|the (?:value|status|placeholder))|where \W*(?:complete|status|true|exit_\w+)\W* is |is only for\b|not yet\b)",
);

static RETRACTION: Expression = Expression::new(
    r"\bi should(?: not|n.t) have (?:\w+ ){0,2}(?:signal|said|output|sent|emit|claim|declar|print|written|given|promis)\w*|(?:^|[.!?,:]\s+)\W*(?:please )?(?:ignore|disregard|retract|withdraw|scratch|strike) (?:that\W*$|this\W*$|that,|(?:that|this|the)(?: \w+)? (?:signal|promise|status|block|above)|the above)|\bi (?:take (?:it|that) back|retract\b|spoke too soon)|\b(?:signal|promise|completion|above) (?:is|was) (?:premature|a mistake|wrong)|(?:^|[.!?,:]\s+)\W*(?:sorry, )?(?:that|this) (?:is|was) (?:premature|a mistake|wrong)\W",
);

/// The first person and a verb of work, or a heading for what comes next.
static NEXT_WORK: Expression = Expression::new(
    r"(?:^|[.!?]\s+|[\u{3002}\u{ff01}])[^a-z_]*(?:(?:ok(?:ay)?|great|good|perfect|alright|wait|hmm|actually|now|next|then|first|but|however|so)\b[\s,.!:—-]*)*(?:(?:let me|let's|i(?:.ll| will| am going to|.m going to| need to| still need to| have to| still have to| must)) (?:now |also |quickly |first |next |then |still |go on to |continue to )*(?:fix|implement|start|continue|work|add|run|move|begin|proceed|tackle|update|writ|create|address|investigate|look into|refactor|handle|do\b|pick|verify|test\b|build|mend|rework|debug|check|commit)\w*|next up\b|next(?: story| task| item| iteration)?:\s*\w|(?:on to|continue with|continuing with) (?:the )?(?:us-|#|task|story|phase|next)|moving on\b|continuing (?:with|on|to)\b|starting (?:on |task|story|phase|us-)|proceeding (?:to|with)\b|on to the next|now on (?:task|to)\b|als nächstes|次は)",
);

/// Counts and names of what is not done.
static OPEN_WORK: Expression = Expression::new(
    r"\b(?:[1-9]\d*|one|two|three|four|five|six|seven|eight|nine|ten|several|some|many|other)\s+(?:(?:more|other|of the|open|incomplete|unchecked|failing|user)\s+)*(?:tasks?|stor(?:y|ies)|items?|tests?|issues?|beads?|phases?|checks?|steps?|boxes|tickets?)\b(?:[^.,;]{0,30}\b(?:remain|left|to go|open|outstanding|incomplete|unchecked|unfinished|pending|fail(?:s|ed|ing)?|red|broken)\b)|\b[1-9]\d*\s+(?:(?:incomplete|unchecked|open|remaining|outstanding|pending|failing|failed)\s+(?:tasks?|stor(?:y|ies)|items?|tests?|issues?)|fail(?:ed|ing|ures?)\b)|\bthere (?:is|are) still\b|\bstill (?:fail|open|pending|missing|to do|to be done|red\b|broken|unchecked|has open|have open|not (?:done|complete|finished|working))\w*|\b(?:is|are)(?: not|n.t)(?: yet)? (?:done|complete|finished|implemented|started|working)\b|\bnot (?:yet )?(?:done|complete|finished|implemented)\b|^\W*(?:still open|remaining(?: work| tasks?| items?| stories)?|outstanding|open tasks?)\W*:\W*\w|\b(?:build|ci|suite|lint|tests?|check) (?:is|are) (?:\w+ly )?(?:broken|red|failing)\b|\b(?:lint|build|suite|tests?|ci) (?:still )?fails?\b|^\W*\[ \]|\b(?:us-|#|task |story )\w*\d\w* (?:remains?|is|are)(?: still)? (?:open|left)\b|\bonly (?:us-|#|task |story )\w*\d\w* (?:is|remains) left\b|\bwhat.s left:|\b[1-9]\d* more (?:tasks|stories|items)\b|(?:仍|还有|剩余).*(?:失败|未完成|任务)|继续修|\b(?:quedan|todavía)\b.*\b(?:pendientes|falla)|noch offen|schlägt\b.*\bfehl",
);

/// A heading for what remains, whose list follows.
static REMAINING_HEADING: Expression =
    Expression::new(r"^\W*(?:remaining|outstanding|open)(?: work| tasks?| items?| stories)?\W*$");

static ITEM: Expression = Expression::new(r"^\s*(?:[-*•]|\d+[.)])\s+(?:\[ \]\s+)?\w");

/// An item that says that there is none.
static NO_ITEM: Expression = Expression::new(r"^[^a-z]*(?:none|nothing|n/?a|no|all done)\b");

/// Words that turn a mention of open work into its absence, or into something
/// that is not this work's.
static NOTHING: Expression = Expression::new(
    r":\s*\W*(?:none|nothing|no\b|0\b|n/a|all done)|\b(?:no|zero|0|nothing|none|without)\s+(?:\w+\s+){0,3}(?:remain\w*|left|open|fail\w*|outstanding|pending)|\b(?:on main|before my change|pre-?existing|unrelated|out of scope|optional|previously|used to|formerly|stale|no longer)\b|\bnothing is\b|\bwhere \w+ (?:is|are) not\b",
);

/// Announcements of a summary, which sound like the next work and close this one.
static SUMMARY: Expression = Expression::new(
    r"\b(?:let me|i(?:.ll| will| need to)|let's)\b.{0,20}\b(?:summar|provide|recap|outline|explain|list|give|present|share|describe|wrap|conclude|highlight|note|report|know|create a summary|write a summary|do a (?:final )?(?:summary|recap))",
);

static ITERATION: Expression = Expression::new(
    r"^[^\w\n#*\[]*(?:\[[^\]]*\][^\w\n#*\[]*)*(?:(?:starting|running|beginning|ralph|executing)\s+)*(?:iteration|loop)\s*#?\d+(?:\s*(?:of|/)\s*\d+)?[^\w\n]*(?:\([^)]*\)|\.\.\.)?[^\w\n]*$|^(?:[=-]{2,}|starting|running|ralph)[^\w\n]*(?:iteration|loop)\s*#?\d+.*$|^(?:human|user):\s+\S+\s+\S+\s+\S+",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_back() {
        for text in [
            "Wait, US-009 still fails. Let me fix that.",
            "Oops, one test is red.",
            "Sorry, that was premature.",
            "Ignore the above.",
            "I spoke too soon: one test is red.",
            "I should not have signalled.",
            "Actually, I see that two tasks are still unchecked.",
            "Otherwise, end normally.",
        ] {
            assert!(objection([text].into_iter()).is_some(), "{text}");
        }
        for text in [
            "Actually, everything was already in place.",
            "Wait times are shorter now.",
            "But first, a summary:",
        ] {
            assert_eq!(objection([text].into_iter()), None, "{text}");
        }
    }

    #[test]
    fn the_next_work_or_open_work() {
        for text in [
            "Now let me start with task 4.",
            "Next, I'll implement the parser.",
            "There are still two stories open.",
            "5 stories remain.",
            "Next story: US-010",
            "The overall project is not complete.",
            "Tests: 45 passed, 3 failed",
            "Remaining: US-010, US-011",
            "The e2e suite still fails.",
            "剩余任务：3",
        ] {
            assert!(is_about_work([text].into_iter()), "{text}");
        }
        assert!(is_about_work(["Remaining work:", "- e2e tests"].into_iter()));
    }

    #[test]
    fn closings_of_this_work() {
        for text in [
            "Let me provide a summary of the work.",
            "I'll be here if you need anything else.",
            "I will now stop.",
            "Let me know if you want changes.",
            "Next steps: deploy",
            "Remaining: none",
            "Total remaining stories: 0",
            "Tests: 312 passed, 0 failed",
            "All tests pass (2 failing are pre-existing).",
        ] {
            assert!(!is_about_work([text].into_iter()), "{text}");
        }
    }

    #[test]
    fn a_runner_begins_another_iteration() {
        for line in [
            "===== Iteration 2 =====",
            "--- Iteration 2 of 10 ---",
            "🔄 Loop #2",
            "Starting iteration 2...",
        ] {
            assert!(begins_iteration(line), "{line}");
        }
        for line in [
            "The loop ran 2 times",
            "Iteration 2 added the parser and its tests",
            "=== COMPLETE: Thu Jan 8 ===",
        ] {
            assert!(!begins_iteration(line), "{line}");
        }
    }
}
