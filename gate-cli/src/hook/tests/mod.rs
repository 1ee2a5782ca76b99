//! The events of each client, as it spells them.

mod events;
mod kinds;
mod lag;
mod replies;

#[test]
fn a_text_has_the_same_words_whatever_its_white_space() {
    use super::has_same_words;
    assert!(has_same_words("All is\n\ndone. ", "All is done."));
    assert!(!has_same_words("All is done.", "All is done. Or not."));
    assert!(!has_same_words("", "done") && has_same_words(" ", ""));
}
