//! The requests of one user, and the values it extracts from answers.

use std::sync::Arc;

use castile_load::{Answer, HttpResponse, NoRequest, Request, Script};
use castile_xml::Memory;

use super::feed::FeedCursor;
use super::mix::Mix;
use super::template::Placeholder;
use crate::signatures::messages;

/// A user of a mix.
pub(super) struct UserScript {
    mix: Arc<Mix>,
    turns: Option<FeedCursor>,
    /// The current row of the feed.
    row: Option<usize>,
    values: Vec<Option<String>>,
    memory: Memory,
    sent: u64,
    /// The signatures of the last request.
    signatures: Vec<Vec<u8>>,
}

impl UserScript {
    pub(super) fn new(mix: &Arc<Mix>) -> Self {
        UserScript {
            mix: mix.clone(),
            turns: mix.feed.as_ref().map(|(_, turns)| turns.of_user()),
            row: None,
            values: vec![None; mix.values.len()],
            memory: Memory::default(),
            sent: 0,
            signatures: Vec::new(),
        }
    }

    fn take_row(&mut self) -> Result<(), NoRequest> {
        if let Some(turns) = &self.turns {
            self.row = Some(turns.take().ok_or(NoRequest::Done)?);
        }
        Ok(())
    }
}

impl Script for UserScript {
    fn write(&mut self, number: usize, request: &mut Request) -> Result<(), NoRequest> {
        let mix = self.mix.clone();
        let operation = mix.round[number];
        let (message, headers) = (mix.message(operation), mix.headers(operation));
        let is_fed = message.template.uses_feed() || headers.uses_feed();
        if mix.row_per_round && number == 0 || !mix.row_per_round && is_fed {
            self.take_row()?;
        }
        let value = |placeholder| match placeholder {
            Placeholder::Column(column) => {
                mix.feed.as_ref().zip(self.row).map(|((feed, _), row)| feed.value(row, column))
            }
            Placeholder::Extracted(value) => self.values[value].as_deref(),
        };
        let written = message.template.write(&mut request.body, value);
        written.map_err(|placeholder| NoRequest::Failed(mix.missing_value(placeholder)))?;
        match headers.literal() {
            Some(lines) => request.headers.push_str(lines),
            None => {
                let mut lines = Vec::new();
                headers
                    .write(&mut lines, value)
                    .map_err(|placeholder| NoRequest::Failed(mix.missing_value(placeholder)))?;
                request.headers.push_str(&String::from_utf8_lossy(&lines));
            }
        }
        if let (true, Some(security)) = (mix.secures_requests, &mix.security) {
            let secured = messages::secure(security, std::mem::take(&mut request.body));
            let secured = secured.map_err(|error| NoRequest::Failed(error.to_string()))?;
            request.body = secured.message;
            self.signatures = secured.signatures;
        }
        self.sent = request.body.len() as u64;
        Ok(())
    }

    fn judge(&mut self, number: usize, response: &HttpResponse<'_>, in_full: bool) -> Result<Answer, String> {
        let number = self.mix.round[number];
        let operation = &self.mix.service.operations[number];
        let Self { values, memory, signatures, .. } = self;
        let security = self.mix.security.as_ref().map(|security| (security, &**signatures));
        self.mix.judge.judge((number, operation), response, in_full, security, values, memory).map_err(|wrong| {
            match &*self.mix.service.operations {
                [_] => wrong,
                _ => format!("{}: {wrong}", operation.name),
            }
        })?;
        Ok(Answer { bytes_out: self.sent, bytes_in: response.body.len() as u64, matches: 0 })
    }
}

impl Mix {
    /// Returns a message that a placeholder has no value.
    fn missing_value(&self, placeholder: Placeholder) -> String {
        match placeholder {
            Placeholder::Column(column) => {
                let name = self.feed.as_ref().map_or("", |(feed, _)| &feed.columns()[column]);
                format!("{{{{{name}}}}} has no value that can be written at this place")
            }
            Placeholder::Extracted(value) => {
                let name = &self.values[value];
                format!(
                    "{{{{{name}}}}} has no value that can be written at this place, or no answer to this user has had \
                     one"
                )
            }
        }
    }
}
