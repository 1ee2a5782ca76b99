//! Judges the sentence before a candidate.
//!
//! A sentence that ends with a colon, a heading, or a sentence that runs on
//! into the candidate introduces it. Who speaks, and with what verb, decides:
//! the agent that announces its status now, or states that the work is done,
//! gives a signal; a condition, a denial, a plan, another speaker, a program
//! or a sample does not. Topic words alone ("format", "protocol", a file's
//! name) count only if nothing else is said.

use crate::decide::language::{Kind, Language, Rule};

/// The effect of an introducing sentence on the candidate.
#[derive(Clone, Copy, Debug)]
pub(super) enum Introduction<'l> {
    /// The agent speaks, of its own work, now.
    Announces,
    /// It says nothing either way.
    Unclear,
    /// The text that follows is no signal, because of this rule.
    Objects(&'l Rule),
}

/// The strong refusals.
const REFUSALS: [Kind; 2] = [Kind::Speaker, Kind::Program];

/// The weak refusals: names of samples.
const SAMPLES: [Kind; 3] = [Kind::Sample, Kind::Label, Kind::PromptOrder];

/// The weakest ones, which count only if nothing else is said.
const TOPICS: [Kind; 2] = [Kind::Topic, Kind::Order];

impl<'l> Introduction<'l> {
    /// Judges a sentence.
    pub(super) fn classify(language: &'l Language, sentence: &str) -> Self {
        // The order decides, because most sentences match several lists. The strong
        // refusals come before "the work is done": "I will not say COMPLETE until the
        // stories are done" also states a fact, and to take that as a signal would end a
        // loop whose work is open. The weak refusals (samples, topics) come after: "All
        // stories in the example app are done" names an example and is a signal.
        // A wrong refusal costs one more iteration, a wrong acceptance the work.
        // "When I ran the tests" is no condition.
        let present = language.without(Kind::PastClause, sentence);
        if let Some(rule) = language.rule_in(Kind::PutOff, &present) {
            return Self::Objects(rule);
        }
        // "Not done: none" holds words of open work, which would refuse it below.
        if language.matches(Kind::Clear, sentence) {
            return Self::Announces;
        }
        if let Some(rule) = language.rule_in(Kind::Denial, sentence) {
            return Self::Objects(rule);
        }
        // "As the loop expects, I output:" names a program that does not speak.
        if language.matches(Kind::Addressed, sentence) {
            return Self::Announces;
        }
        if let Some(rule) = language.first_in(&REFUSALS, sentence) {
            return Self::Objects(rule);
        }
        if language.matches(Kind::Fact, sentence) {
            return Self::Announces;
        }
        if let Some(rule) = language.first_in(&SAMPLES, sentence) {
            return Self::Objects(rule);
        }
        if language.matches(Kind::Announcement, sentence) {
            return Self::Announces;
        }
        language.first_in(&TOPICS, sentence).map_or(Self::Unclear, Self::Objects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn announces(sentences: &[&str]) {
        for sentence in sentences {
            let language = Language::default();
            let introduction = Introduction::classify(&language, sentence);
            assert!(matches!(introduction, Introduction::Announces), "{sentence}");
        }
    }

    #[track_caller]
    fn objects(reason: &str, sentences: &[&str]) {
        for sentence in sentences {
            let language = Language::default();
            match Introduction::classify(&language, sentence) {
                Introduction::Objects(rule) => {
                    assert!(rule.objection().contains(reason), "{sentence}: {rule:?}");
                }
                other => panic!("{sentence}: {other:?}"),
            }
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
            "Here is the block that the loop waits for:",
            "Completion signal, as gate expects it:",
            "Not done: none",
            "If you disagree, tell me; from my side it is done:",
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
            "denies",
            &["I must not output this yet:", "It is too early for:", "Todavía no puedo emitir:"],
        );
        objects(
            "puts it off",
            &[
                "If ALL stories pass, reply with:",
                "When everything is finished print:",
                "When you are done, print:",
                "If you are done, print:",
                "If all stories passed:",
                "If open tasks: 0, output:",
                "Provided that the tests pass, I answer:",
                "Se os testes passarem, respondo:",
                "Si les tests passent, je réponds :",
                "若测试全部通过，我会输出：",
                "テストが通ったら、次を出力します：",
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
            "something else speak",
            &[
                "The previous iteration ended with:",
                "The sub-agent returned:",
                "The explorer sub-agent came back with:",
                "Message from agent-7:",
                "The command printed:",
                "status.txt now has:",
                "You wrote:",
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
            "an example",
            &[
                "Here is an example:",
                "Sample output:",
                "Tool output:",
                "stdout:",
                "Draft of my final message:",
                "STATUS.md:",
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
        for sentence in ["Tests and lint:", "Everything in one go:"] {
            let language = Language::default();
            let introduction = Introduction::classify(&language, sentence);
            assert!(matches!(introduction, Introduction::Unclear), "{sentence}");
        }
    }
}
