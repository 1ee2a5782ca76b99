//! The kinds of language rules: the places that ask for them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The place that asks for a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Words that deny the claim in whose clause they stand.
    Negation,
    /// The text after a claim denies the claim.
    NegatedAfter,
    /// An exception to a claim.
    Exception,
    /// A condition of the claim in whose sentence it stands.
    Condition,
    /// A claim about the future.
    Future,
    /// The sentence begins with an order.
    Order,
    /// Nothing is left, in so many words.
    Clear,
    /// The sentence before a signal denies the signal.
    Denial,
    /// A clause that puts nothing under a condition, although it sounds like one.
    PastClause,
    /// The sentence before a signal puts the signal off.
    PutOff,
    /// Somebody else speaks, or the agent at another time.
    Speaker,
    /// A program or a file looks for a signal, holds or prints one.
    Program,
    /// Completion, stated as a fact.
    Fact,
    /// A sample, by its own name.
    Sample,
    /// A line that is nothing but the label of a sample.
    Label,
    /// An order to give a signal, as a prompt gives it.
    PromptOrder,
    /// The last step of a numbered list: to give a signal.
    PromptItem,
    /// A line of a prompt: an order to the agent.
    PromptLine,
    /// The heading of a list of what the work has to reach.
    Criteria,
    /// The agent gives its status now.
    Announcement,
    /// The agent gives its status to the program that waits for it.
    Addressed,
    /// Words that name how a signal is given.
    Topic,
    /// The heading of a section that shows how a status is reported.
    SampleHeading,
    /// The line runs on into the next one.
    RunsOn,
    /// A short claim of completion in front of a tag.
    Claim,
    /// The sentence talks about a signal.
    Mention,
    /// The sentence says when a signal is to be given.
    ConditionalMention,
    /// The agent stumbles over something.
    Waver,
    /// A stumble that counts only with open work on its own line.
    Stumble,
    /// A sentence about the product.
    Product,
    /// The other case of a condition: what stands above was an example.
    Otherwise,
    /// The agent takes back what stands above.
    Retraction,
    /// The next work.
    NextWork,
    /// Work that is not done.
    OpenWork,
    /// The heading of a list of open work.
    RemainingHeading,
    /// An item of a list that says that there is none.
    NoItem,
    /// Nothing is open.
    NotOpen,
    /// The text is about other work than this.
    OtherWork,
    /// The sentence before is about other work than this.
    OtherWorkBefore,
    /// A part of the work, which may be left.
    LeftRest,
    /// The agent itself, which will act.
    LeftAct,
    /// A later time, to which work is put off.
    LeftLater,
    /// A state of a part of the work: open.
    LeftOpen,
    /// Work of the task is left, in so many words.
    LeftWork,
    /// The next work, at the end of a message.
    LeftNext,
    /// The heading of a list of work that is left.
    LeftHeading,
    /// Words that sound like open work and are about the product or the past.
    NotLeft,
    /// A sentence, or the heading of a section, about other work than this.
    Aside,
    /// The state of an item or a cell: open.
    OpenState,
    /// The heading of a column of states.
    StateHeading,
    /// The announcement of a summary.
    Summary,
    /// A value that means that nothing is left.
    None,
    /// The rest of a value names no work.
    Harmless,
    /// The absence of what would be a part.
    Absence,
    /// Nothing is done, in so many words.
    Undone,
    /// A part of the work.
    Part,
    /// A state of tests that is no pass.
    Failing,
    /// Failures that are over, or not this work's.
    Excused,
    /// A number of failures.
    Failures,
    /// A recommendation that names open work.
    Recommendation,
    /// A comment that orders what to write.
    CommentOrder,
    /// The agent asks the person something.
    AsksPerson,
    /// A polite closing, which asks nothing.
    PoliteClosing,
}

impl Kind {
    /// One bit, so that several kinds are one number.
    pub(super) fn bit(self) -> u64 {
        1 << self as u64
    }
}
