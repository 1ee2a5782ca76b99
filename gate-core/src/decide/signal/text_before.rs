//! Judges the sentence before a candidate.
//!
//! A sentence that ends with a colon, a heading, or a sentence that runs on
//! into the candidate introduces it. Who speaks, and with what verb, decides:
//! the agent that announces its status now, or states that the work is done,
//! gives a signal; a condition, a denial, a plan, another speaker, a program
//! or a sample does not. Topic words alone ("format", "protocol", a file's
//! name) count only if nothing else is said.

use crate::decide::expression::{Expression, without};
use crate::decide::sentence;

/// The effect of an introducing sentence on the candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Introduction {
    /// The agent speaks, of its own work, now.
    Announces,
    /// It says nothing either way.
    Unclear,
    /// The text that follows is no signal, for this reason.
    Objects(&'static str),
}

const DENIES: Introduction = Introduction::Objects("the sentence before it denies it");
const PUTS_OFF: Introduction =
    Introduction::Objects("the sentence before it puts it off or under a condition");
const ANOTHER: Introduction =
    Introduction::Objects("the sentence before it lets somebody or something else speak");
const EXAMPLE: Introduction = Introduction::Objects("the sentence before it introduces an example");

impl Introduction {
    /// Judges a sentence.
    pub(super) fn classify(sentence: &str) -> Self {
        // The order decides, because most sentences match several lists. The strong
        // refusals come before "the work is done": "I will not say COMPLETE until the
        // stories are done" also states a fact, and to take that as a signal would end a
        // loop whose work is open. The weak refusals (samples, topics) come after: "All
        // stories in the example app are done" names an example and is a signal.
        // A wrong refusal costs one more iteration, a wrong acceptance the work.
        let present = without(&PAST_CLAUSE, sentence);
        if CLEAR.is_match(sentence) {
            // "Remaining: none" holds words of open work, which would refuse it below.
            Self::Announces
        } else if DENIAL.is_match(sentence) {
            DENIES
        } else if PUT_OFF.is_match(&present) {
            PUTS_OFF
            // Clauses about the past were cut out: "when I ran the tests" is no condition.
        } else if SPEAKER.is_match(sentence) || PROGRAM.is_match(sentence) {
            ANOTHER
        } else if FACT.is_match(sentence) {
            Self::Announces
        } else if SAMPLE.is_match(sentence) || LABEL.is_match(sentence) || ORDER.is_match(sentence)
        {
            EXAMPLE
        } else if ANNOUNCEMENT.is_match(sentence) {
            Self::Announces
        } else if TOPIC.is_match(sentence) || sentence::starts_with_order(sentence) {
            EXAMPLE
        } else {
            Self::Unclear
        }
    }
}

/// True if a heading opens a section that shows how to report a status. A section that
/// shows how to use the product ("Usage example") may well be followed by the agent's own
/// status.
pub(super) fn heads_status_examples(heading: &str) -> bool {
    STATUS_EXAMPLES.is_match(heading)
}

/// Nothing is left, in so many words.
static CLEAR: Expression = Expression::new(
    r"\b(?:remaining|open|left|not done|outstanding|todo|pending)\b[^:]*:\W*(?:none|nothing|0\b|no\b)|\bcontains? (?:no (?:open|more|unchecked|remaining)|only (?:checked|ticked|done|completed))\b|\breport(?:ed|s)? no\b|\blast (?:story|task|item)\b.*\bso\W*$",
);

static DENIAL: Expression = Expression::new(
    r"\b(?:not|never|cannot|can.?t|won.?t|shouldn.?t|don.?t|doesn.?t|didn.?t)\b[^,;.]{0,40}\b(?:output|print|emit|signal|send|write|say|reply|respond|give|declare|claim|promise|exit|stop|finish|done|complete)|\bnot (?:yet|this)\b|\binstead of\b|\b(?:withhold\w*|too early|premature\w*)\b|还不能|尚未|todavía no|aún no|noch nicht|pas encore|ещё не|еще не",
);

/// "When I ran it" and "once again" put nothing under a condition.
static PAST_CLAUSE: Expression = Expression::new(
    r"\bonce (?:again|more|and for all)\b|\bwhether or not\b|\b(?:when|as soon as|once|if) (?:i|we|it|the [\w-]+|all [\w-]+) (?:\w+ly )?(?:ran|was|were|had|did|went|came|saw|got|\w+ed)\b|\b(?:let me know|tell me) (?:if|when)\b.*|\bwhen(?:ever)? you\b.*|^\W*if you\b.*|\bas the (?:prompt|task) (?:asks|says)\b.*",
);

static PUT_OFF: Expression = Expression::new(
    r"\b(?:if|when|whenever|once|until|unless|as soon as|whether|in case|assuming|later|eventually|afterwards?|in the future|would|at the end)\b|\b(?:in the end|soon|tomorrow|one day|some ?day)\b[^.]*\b(?:will|i.ll)\b|\btodo:|^\W*todo\b[^,;]*$|\b(?:next|last|final) (?:time|iteration|loop|turn|message)\b[^.]*\bwill\b|\bmy (?:final |last )?(?:message|answer|status) will\b|\bthen i(?: will|.ll)\b|,\s*(?:then )?(?:please )?(?:output|print|emit|reply|respond|say|write|return|end|finish)\b|当.*(?:后|时)|cuando|sobald|wenn|quand|когда",
);

/// Somebody else, or the agent at another time.
static SPEAKER: Expression = Expression::new(
    r"\b(?:previous|last|earlier|prior|first) (?:iteration|run|loop|attempt|turn|session|message)\b.{0,40}\b(?:ended|said|was|output|printed|reported|returned|wrote)|\b(?:iteration|run|loop) #?\d+\b.{0,20}\b(?:ended|said|output|printed|reported|returned)|\b(?:its|their|his) (?:last |final )?(?:message|answer|reply|report|output)|\b(?:sub-?agents?|teammates?|workers?|reviewers?|helpers?|background task|explorer|codex|claude|gemini|opencode|another agent|other agent|agent [\w-]+)\b.{0,40}\b(?:return(?:s|ed)|report(?:s|ed)|answer(?:s|ed)|repli(?:es|ed)|says|said|end(?:s|ed)|finish(?:es|ed) with|wrote)\b|(?:'s|’s) (?:last |final )?(?:answer|reply|report|output)\b|\b(?:codex|claude|gemini|opencode) (?:output|answer)\b|\b(?:result|answer|report|status) (?:of|from) (?:the )?(?:teammates?|sub-?agents?|workers?)\b|\bof the (?:previous|last) (?:session|run|iteration|loop)\b|\b(?:says|said|quot(?:e|es|ed|ing))\b|子代理",
);

/// A program or a file that looks for a signal, holds one or prints one.
static PROGRAM: Expression = Expression::new(
    r"\b(?:scripts?|loop|hooks?|drivers?|runners?|parsers?|detectors?|gate|harness|orchestrator|file|log|logs|agent|mock|fixture|prompt|docs?|readme|it|\w+\.(?:md|txt|sh|py|json|jsonl|ya?ml|toml|rs|ts|js|log))`?\b[^,;.]{0,30}\b(?:prints?|compares?|accepts?|ignores?|contains?|ends? with|looks? for|greps?|stops? (?:on|at)|breaks? on|checks? for|expects?|reads|waits for|match(?:es)?|detects?|parses?|emits?|outputs?|returns?|returned|answers? with|now ends|(?:section )?shows?)\b|\b(?:cat|echo|tail|grep)\s",
);

/// A completion that is stated as a fact.
static FACT: Expression = Expression::new(
    r"^[^a-z]*(?:(?:all|everything|the|task|tasks|story|stories|work|project|implementation|session|prd|loop|iteration|us-\d+|\d+)[ ,:/*_-]+)*(?:now |all |fully )*(?:done|completed?|finished)\W*$|\b(?:is|are|was|were|has been|have been|now)\s+(?:now |all |fully |both |already |successfully )*(?:met|satisfied|fulfilled|reached|done|complete|completed|finished|ticked|checked|marked|passing|implemented|closed|fixed|in place|green)\b|\b(?:conditions?|criteria|criterion|goals?)\s+(?:now )?(?:met|satisfied|fulfilled|reached)\b",
);

/// A sample, by its own name.
static SAMPLE: Expression = Expression::new(
    r"\b(?:examples?|samples?|templates?|snippets?|placeholders?|fixtures?|reminders?|excerpts?|demo|syntax|looks? like|for instance|such as|e\.g|format (?:of|is|for|must)|(?:marker|sentinel|token|tag|phrase) is|how a \w+ \w+ looks)\b|<example>|例如|比如|示例|格式如下|ejemplo|beispiel|exemple|пример",
);

/// A line that is nothing but the label of a sample.
static LABEL: Expression = Expression::new(
    r"^\W*(?:before|after|input|usage|then|commit message|snippet|from the docs)\W*$|^\W*(?:\w+ ){0,2}(?:plan|history|steps)\W*$|^\W*\(example\)|^\W*(?:expected|old|test case|for the next|hand-?off|remaining)\b|\b(?:marker|sentinel)\b[^,;.]*$",
);

/// An order to give a signal, as a prompt gives it.
static ORDER: Expression = Expression::new(
    r"^\W*(?:\d+[.)]\s*)?(?:please\s+)?(?:output|print|emit|reply|respond|return|say|write|end|finish|use|include)\b[^\w\n]+\w|\b(?:print|emit|write|say)$",
);

/// The agent that gives its status now.
static ANNOUNCEMENT: Expression = Expression::new(
    r"(?:^|[,;]\s*|\b(?:so|therefore|thus|now|hence|finally|accordingly|and)\s+)\W*(?:(?:only )?now )?(?:(?:do )?i(?:.m| am|.ll| will| can| must| should| hereby| therefore| now)*(?: now| \w+ly| going to)* (?:output|repl|respond|end|clos|finish|signal|emit|print|giv|report|stat|mark|declar|provid|send|conclud|writ)\w*|let me\b|my (?:final |current )?(?:status|report|signal|answer|reply)|(?:here is|here.s|this is|below is) (?:my|the|a)\b|(?:replying|responding|signal(?:l?ing)?|outputting|emitting|reporting|ending|closing|finishing|concluding|declaring)\b|(?:final|completion|exit|ralph|loop|current) (?:status|report|output|answer|message|signal|result|block|update)|(?:the )?(?:status|signal|report|output|reply|result)\b|(?:as )?per\b|following the\b|according to\b|as (?:required|requested|instructed|specified|asked)\b|in line with\b)",
);

/// Words that name how a signal is given; they show one where nothing else is
/// said.
static TOPIC: Expression = Expression::new(
    r"\b(?:protocol|format|remember|stop condition|exit condition|completion condition|(?:reply|respond|answer|end|finish|exit) with|(?:must|should|has to|have to|needs? to|expected to|supposed to|told to|asked to|instructed to|told me to|asked me to) (?:\w+ ){0,2}(?:output|print|emit|reply|respond|write|say|contain|include|end)|reads|the prompt|instructions?|regex|(?:wrote|written|writing|saved?|saving|added|adding|updated|updating|appended|appending|created|creating|inserted|put)\b[^:]*\.\w{1,5}\b|contents? of|(?:in|of|to|from) [\w./~-]+\.(?:md|txt|sh|py|json|ya?ml|toml|rs|ts|js))",
);

static STATUS_EXAMPLES: Expression = Expression::new(
    r"\b(?:status|signal|promise|ralph)\b.*\b(?:examples?|templates?|samples?)\b|\b(?:examples?|templates?|samples?)\b.*\b(?:status|signal|promise|ralph)\b",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn announces(sentences: &[&str]) {
        for sentence in sentences {
            assert_eq!(Introduction::classify(sentence), Introduction::Announces, "{sentence}");
        }
    }

    #[track_caller]
    fn objects(introduction: Introduction, sentences: &[&str]) {
        for sentence in sentences {
            assert_eq!(Introduction::classify(sentence), introduction, "{sentence}");
        }
    }

    #[test]
    fn the_agent_announces_its_status() {
        announces(&[
            "Let me provide the final status report:",
            "Now let me signal completion:",
            "So I should output the completion promise:",
            "Per the protocol in PROMPT.md, my status for this loop:",
            "Final status in the requested format:",
            "As requested, the status block in the required format:",
            "Because all stories pass, I reply with:",
            "I'll end with the completion promise:",
            "Here is the signal the loop is waiting for:",
            "Only now do I output the promise:",
        ]);
    }

    #[test]
    fn a_fact_of_completion() {
        announces(&[
            "The stop condition is met:",
            "Stop condition reached:",
            "All items in fix_plan.md are marked [x]:",
            "When I ran the full suite one last time everything was green:",
            "The task is complete once and for all:",
        ]);
    }

    #[test]
    fn denied_put_off_or_conditional() {
        objects(
            DENIES,
            &["I must not output this yet:", "It is too early for:", "Todavía no puedo emitir:"],
        );
        objects(
            PUTS_OFF,
            &[
                "If ALL stories pass, reply with:",
                "When everything is finished print:",
                "Later I will emit:",
                "In the end I will say:",
                "Soon I'll reply with:",
                "In the last iteration I will output:",
                "When the migration has run the agent should answer",
                "Assuming the tests pass:",
                "Wenn alles fertig ist:",
            ],
        );
    }

    #[test]
    fn another_speaker() {
        objects(
            ANOTHER,
            &[
                "The previous iteration ended with:",
                "The sub-agent returned:",
                "Its last message was:",
                "ralph.sh greps for:",
                "The loop stops on:",
                "`tests/data/complete.log` contains:",
                "progress.txt ends with:",
            ],
        );
    }

    #[test]
    fn samples_and_topics() {
        objects(
            EXAMPLE,
            &[
                "Here is an example:",
                "Sample output:",
                "Expected output:",
                "The protocol:",
                "The stop condition is:",
                "I added this to PROMPT.md:",
                "Reply with:",
                "Output your completion status as:",
                "Ejemplo:",
                "例如：",
            ],
        );
    }

    #[test]
    fn what_says_nothing_either_way() {
        objects(Introduction::Unclear, &["Tests and lint:", "Everything in one go:"]);
    }
}
