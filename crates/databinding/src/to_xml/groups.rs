use super::{CHECK_INTERVAL, Encoder};
use crate::group::Group;

impl Encoder {
    /// Writes a model group.
    pub fn group<G: Group>(&mut self, group: &G) {
        group.write(self);
    }

    /// Writes a model group, if there is one.
    pub fn optional_group<G: Group>(&mut self, group: &Option<G>) {
        if let Some(group) = group {
            group.write(self);
        }
    }

    /// Writes several model groups.
    pub fn groups<G: Group>(&mut self, groups: &[G]) {
        let mut rest = groups;
        while !rest.is_empty() && !self.is_outgrown() {
            let (groups, behind) = rest.split_at(rest.len().min(CHECK_INTERVAL));
            for group in groups {
                group.write(self);
            }
            rest = behind;
        }
    }
}
