//! The events of each client, as it spells them.

mod events;
mod kinds;
mod lag;
mod replies;
