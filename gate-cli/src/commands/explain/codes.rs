//! Codes of reasons, warnings and errors, and rules of `integrity`, in words.

use gate_core::decide::reason::Explanation;
use gate_core::integrity::{RuleInfo, Severity};

use crate::render::page::{Mark, Page};

/// A code with its meaning, its cause, an example and the remedy.
pub(crate) fn code_page(code: &str, explanation: Explanation) -> String {
    let mut page = Page::new();
    page.text(code);
    page.blank();
    page.text(explanation.meaning);
    page.blank();
    page.row("why", explanation.cause);
    page.row("example", explanation.example);
    page.row("next", explanation.remedy);
    page.into_text()
}

/// A rule of `integrity` with its finding, its effect, the remedy, and the setting that allows
/// what it finds.
pub(crate) fn rule_page(rule: &RuleInfo) -> String {
    let effect = match rule.severity {
        Severity::Tamper => "`integrity` does not count, whatever its mode",
        Severity::Block => "`integrity` fails",
        Severity::Warn => "none: it is only shown",
    };
    let mut page = Page::new();
    page.text(rule.id);
    page.blank();
    page.text(rule.doc.trim());
    page.blank();
    page.row("finding", rule.message);
    page.row("effect", effect);
    page.row("next", rule.hint);
    page.row("allow", &allowance(rule));
    page.into_text()
}

/// The setting by which the operator allows what a rule finds.
fn allowance(rule: &RuleInfo) -> String {
    let id = rule.id;
    format!(
        "in gate.toml: `[[integrity.allow]]` with `rule = \"{id}\"` and a `reason`; `path` narrows it; \
         then `gate trust`"
    )
}

/// All codes by group, a row each.
pub(crate) fn code_list(groups: &[(&str, Vec<(&str, Explanation)>)]) -> String {
    let all_codes = groups.iter().flat_map(|(_, codes)| codes);
    let longest_code = all_codes.map(|(code, _)| code.len()).max().unwrap_or_default();
    let mut page = Page::new().with_labels(longest_code);
    for (index, (title, codes)) in groups.iter().enumerate() {
        if index > 0 {
            page.blank();
        }
        page.head(Mark::None, title, "");
        page.blank();
        for (code, explanation) in codes {
            page.row(code, explanation.meaning);
        }
    }
    page.into_text()
}
