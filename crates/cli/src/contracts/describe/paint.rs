//! The colours of the tree. They only repeat what the words say.

use anstyle::{AnsiColor, Style};

/// Services, ports and operations.
pub(super) const HEAD: Style = Style::new().bold();
/// Elements and attributes.
pub(super) const NAME: Style = AnsiColor::Green.on_default();
/// Types.
pub(super) const TYPE: Style = AnsiColor::Cyan.on_default();
/// How often something occurs.
pub(super) const OCCURS: Style = AnsiColor::Yellow.on_default();
/// Less important text.
pub(super) const DIM: Style = Style::new().dimmed();
