//! The numbers of an audit.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::lookup::Lookup;
use super::{ClaimSupport, Way};
use crate::share::Share;

/// `gate.audit.v1`: claims of agents, and the checks behind them. Observed, never
/// evidence. Fields are added, never changed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AuditRecord {
    /// Always `gate.audit.v1`.
    pub schema: &'static str,
    /// The files that were read.
    pub files: u64,
    /// Their length in bytes.
    pub bytes: u64,
    /// The turns in them.
    pub turns: u64,
    /// The turns that changed files other than prose.
    pub changed: u64,
    /// The numbers of the claims.
    #[serde(flatten)]
    pub all: Claims,
    /// The share of claims with a passing check after the last edit; null without claims.
    pub share: Option<Share>,
    /// The numbers by format, client, model and project.
    pub by: Groups,
    /// Events on the way: turns, and denied calls.
    pub on_the_way: WayTotals,
    /// Tokens that the transcripts report.
    pub tokens: u64,
    /// Dollars that the transcripts report.
    pub cost_usd: f64,
    /// Claims that were looked up now.
    pub looked_up: LookedUp,
    /// Files that could not be read, with the reason.
    pub unread: Vec<String>,
    /// Each claim.
    pub items: Vec<AuditItem>,
}

/// The numbers of claims by the checks behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Claims {
    /// Turns that changed files and claimed completion.
    pub claims: u64,
    /// A check passed after the last edit, and no failure since then is left.
    pub passed_after: u64,
    /// All checks ran before the last edit.
    pub stale: u64,
    /// A check after the last edit failed, and no later run shows that its tests pass.
    pub failed: u64,
    /// No check ran in the turn.
    pub none: u64,
    /// The transcript does not tell: the end of a check is hidden, or another command ran or failed.
    pub unknown: u64,
}

/// The numbers apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Groups {
    /// By the format of the transcript.
    pub agent: BTreeMap<String, Claims>,
    /// By the program that wrote the transcript; `unknown` if its format does not tell.
    pub client: BTreeMap<String, Claims>,
    /// By the model; `unknown` if the transcript does not name it.
    pub model: BTreeMap<String, Claims>,
    /// By the folder of the transcript.
    pub project: BTreeMap<String, Claims>,
}

/// Turns in which something happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WayTotals {
    /// Turns that changed files of tests.
    pub tests_edited: u64,
    /// Turns that took a test out of a run.
    pub tests_skipped: u64,
    /// Turns with a commit or push that left hooks out.
    pub no_verify: u64,
    /// Turns that looked up commits outside of the history of the work.
    pub history: u64,
    /// Denied tool calls.
    pub denied: u64,
}

/// Claims that were looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LookedUp {
    /// Commits and files that are there.
    pub hold: u64,
    /// Those that are not.
    pub absent: u64,
}

/// A claim, and the check behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AuditItem {
    /// The transcript.
    pub file: String,
    /// Line of the claim, from 1.
    pub line: u64,
    /// The claim: the agent's own sentence, or `an explicit signal` if it wrote none.
    pub claim: String,
    /// The claim is quoted from the agent.
    pub quoted: bool,
    /// The check behind it.
    pub standing: ClaimSupport,
    /// The check that decided; null if none did.
    pub command: Option<String>,
    /// Line of its result, from 1.
    pub command_line: Option<u64>,
    /// A run of a part of the same tests, which passed after `command` had failed; null if none did.
    pub later_part: Option<String>,
    /// Line of its result, from 1.
    pub later_part_line: Option<u64>,
    /// The format of the transcript.
    pub agent: String,
    /// The program that wrote it; null if its format does not tell.
    pub client: Option<String>,
    /// The model; null if the transcript does not name it.
    pub model: Option<String>,
    /// The folder of the transcript.
    pub project: String,
    /// Events in the turn.
    #[serde(flatten)]
    pub way: Way,
    /// Claims of the message that were looked up now.
    pub looked_up: Vec<Lookup>,
}

/// The turns of one file.
#[derive(Clone, Debug, Default)]
pub struct Audited {
    pub bytes: u64,
    pub turns: u64,
    pub tokens: u64,
    pub cost_micro_usd: u64,
    /// Events in the turns that changed files other than prose.
    pub ways: Vec<Way>,
    pub items: Vec<AuditItem>,
}

impl AuditItem {
    /// The check behind the claim, for a person.
    pub fn words(&self) -> &'static str {
        match self.later_part {
            Some(_) => "a part passed, the whole failed",
            None => self.standing.words(),
        }
    }

    /// The claim, between quotation marks if the agent wrote it.
    pub fn said(&self) -> String {
        if self.quoted { format!("“{}”", self.claim) } else { self.claim.clone() }
    }
}

impl WayTotals {
    fn add(&mut self, way: &Way) {
        self.tests_edited += u64::from(way.tests_edited);
        self.tests_skipped += u64::from(way.tests_skipped);
        self.no_verify += u64::from(way.no_verify);
        self.history += u64::from(way.history);
        self.denied += way.denied;
    }
}

impl Claims {
    fn add(&mut self, standing: ClaimSupport) {
        self.claims += 1;
        *self.number_mut(standing) += 1;
    }

    fn number_mut(&mut self, standing: ClaimSupport) -> &mut u64 {
        match standing {
            ClaimSupport::PassedAfter => &mut self.passed_after,
            ClaimSupport::Stale => &mut self.stale,
            ClaimSupport::Failed => &mut self.failed,
            ClaimSupport::None => &mut self.none,
            ClaimSupport::Unknown => &mut self.unknown,
        }
    }

    /// The number of claims of this standing.
    pub fn number(mut self, standing: ClaimSupport) -> u64 {
        *self.number_mut(standing)
    }

    /// The share with a passing check after the last edit.
    pub fn share(&self) -> Option<Share> {
        Share::new(self.passed_after, self.claims)
    }
}

impl AuditRecord {
    /// The numbers of these files.
    pub fn new(audited: Vec<Audited>, unread: Vec<String>) -> Self {
        let mut record = Self {
            schema: "gate.audit.v1",
            files: audited.len() as u64,
            bytes: 0,
            turns: 0,
            changed: 0,
            all: Claims::default(),
            share: None,
            by: Groups::default(),
            on_the_way: WayTotals::default(),
            tokens: 0,
            cost_usd: 0.0,
            looked_up: LookedUp::default(),
            unread,
            items: Vec::new(),
        };
        let mut cost_micro_usd = 0;
        for mut file in audited {
            record.bytes += file.bytes;
            record.turns += file.turns;
            record.changed += file.ways.len() as u64;
            record.tokens += file.tokens;
            cost_micro_usd += file.cost_micro_usd;
            file.ways.iter().for_each(|way| record.on_the_way.add(way));
            file.items.iter().for_each(|item| record.count(item));
            record.items.append(&mut file.items);
        }
        record.cost_usd = cost_micro_usd as f64 / 1e6;
        record.share = record.all.share();
        record
    }

    /// The numbers by client, by model and by project, each with its name.
    pub fn groups(&self) -> [(&'static str, &BTreeMap<String, Claims>); 3] {
        let Groups { client, model, project, .. } = &self.by;
        [("client", client), ("model", model), ("project", project)]
    }

    /// The claims of this standing, in the order of the files.
    pub fn with(&self, standing: ClaimSupport) -> impl Iterator<Item = &AuditItem> {
        self.items.iter().filter(move |item| item.standing == standing)
    }

    fn count(&mut self, item: &AuditItem) {
        let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "unknown".to_owned());
        let groups = [
            (&mut self.by.agent, item.agent.clone()),
            (&mut self.by.client, name(&item.client)),
            (&mut self.by.model, name(&item.model)),
            (&mut self.by.project, item.project.clone()),
        ];
        for (groups, name) in groups {
            groups.entry(name).or_default().add(item.standing);
        }
        self.all.add(item.standing);
        for found in &item.looked_up {
            match found.holds {
                Some(true) => self.looked_up.hold += 1,
                Some(false) => self.looked_up.absent += 1,
                None => {}
            }
        }
    }
}
