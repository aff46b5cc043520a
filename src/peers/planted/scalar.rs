//! A scalar decoder that reads by a table of forms, so that a faulty table makes a faulty decoder.

use crate::decoder::Stream;
use crate::spec::model::push_generalised;
use crate::utf8::{ErrorLen, Malformed, REPLACEMENT, Validity};

/// The sequences that start with one of these leads. Ranges are first and last byte.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) leads: (u8, u8),
    pub(super) len: usize,
    pub(super) second: (u8, u8),
    /// The third byte and those behind.
    pub(super) others: (u8, u8),
}

/// Any continuation byte.
pub(super) const CONTINUATION: (u8, u8) = (0x80, 0xBF);

pub(super) const fn form(first: u8, last: u8, len: usize, second: (u8, u8)) -> Form {
    Form { leads: (first, last), len, second, others: CONTINUATION }
}

enum Step {
    Char { len: usize, code_point: u32 },
    IllFormed { len: usize, error_len: ErrorLen },
}

/// Reads the start of `rest`; `None` where it is empty. The first form with the lead counts.
fn read(rest: &[u8], forms: &[Form]) -> Option<Step> {
    let within = |byte: u8, (first, last): (u8, u8)| (first..=last).contains(&byte);
    let &lead = rest.first()?;
    if lead.is_ascii() {
        return Some(Step::Char { len: 1, code_point: u32::from(lead) });
    }
    let ill_formed = |len| Some(Step::IllFormed { len, error_len: ErrorLen::Bytes(len) });
    let Some(form) = forms.iter().find(|form| within(lead, form.leads)) else { return ill_formed(1) };
    let mut code_point = u32::from(lead) & (0x7F >> form.len);
    for at in 1..form.len {
        let Some(&byte) = rest.get(at) else {
            return Some(Step::IllFormed { len: at, error_len: ErrorLen::Incomplete });
        };
        if !within(byte, if at == 1 { form.second } else { form.others }) {
            return ill_formed(at);
        }
        code_point = code_point << 6 | u32::from(byte & 0x3F);
    }
    Some(Step::Char { len: form.len, code_point })
}

/// The verdict by these forms.
pub(super) fn validate(bytes: &[u8], forms: &[Form]) -> Validity {
    let mut at = 0;
    while let Some(step) = read(&bytes[at..], forms) {
        match step {
            Step::Char { len, .. } => at += len,
            Step::IllFormed { error_len, .. } => return Malformed::at(at, error_len).into(),
        }
    }
    Validity::Valid
}

/// The output by these forms.
pub(super) fn lossy(bytes: &[u8], forms: &[Form], out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(step) = read(&bytes[at..], forms) {
        at += match step {
            Step::Char { len, code_point } => {
                push_generalised(code_point, out);
                len
            }
            Step::IllFormed { len, .. } => {
                out.extend_from_slice(REPLACEMENT);
                len
            }
        };
    }
}

/// The same in chunks.
pub(super) struct Chunked {
    forms: &'static [Form],
    /// By these it is told whether the rest of a chunk waits for the next.
    at_cut: &'static [Form],
    pending: Vec<u8>,
    /// Bytes read before the pending ones.
    read: usize,
    first_error: Option<Malformed>,
}

impl Chunked {
    pub(super) fn new(forms: &'static [Form]) -> Self {
        Self::cut_by(forms, forms)
    }

    pub(super) fn cut_by(forms: &'static [Form], at_cut: &'static [Form]) -> Self {
        Self { forms, at_cut, pending: Vec::new(), read: 0, first_error: None }
    }

    /// The next step; `None` where what is left waits.
    fn step(&self, rest: &[u8]) -> Option<Step> {
        let step = read(rest, self.forms)?;
        match (read(rest, self.at_cut), &step) {
            (Some(Step::IllFormed { error_len: ErrorLen::Incomplete, .. }), Step::IllFormed { .. }) => None,
            (refused, Step::IllFormed { error_len: ErrorLen::Incomplete, .. }) => refused,
            _ => Some(step),
        }
    }

    fn take(&mut self, at: usize, step: Step, out: &mut Vec<u8>) -> usize {
        match step {
            Step::IllFormed { len, error_len } => {
                out.extend_from_slice(REPLACEMENT);
                self.first_error.get_or_insert(Malformed::at(self.read + at, error_len));
                len
            }
            Step::Char { len, code_point } => {
                push_generalised(code_point, out);
                len
            }
        }
    }
}

impl Stream for Chunked {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.pending.extend_from_slice(chunk);
        let mut at = 0;
        while let Some(step) = self.step(&self.pending[at..]) {
            at += self.take(at, step, out);
        }
        self.pending.drain(..at);
        self.read += at;
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        let mut ended = core::mem::replace(self, Self::cut_by(self.forms, self.at_cut));
        let mut at = 0;
        while let Some(step) = read(&ended.pending[at..], self.forms) {
            at += ended.take(at, step, out);
        }
        Some(ended.first_error.map_or(Validity::Valid, Validity::Invalid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::classes::strings::Block;
    use crate::peers::planted::grammar::SOUND;

    #[test]
    fn with_sound_forms_it_is_sound() {
        let mut bytes = Vec::new();
        for len in 1..=4 {
            let block = Block { len, offset: 0 };
            for index in 0..block.count() {
                block.write(index, &mut bytes);
                assert_eq!(validate(&bytes, &SOUND), core::str::from_utf8(&bytes).map(drop).into());
                let (mut whole, mut cut) = (Vec::new(), Vec::new());
                lossy(&bytes, &SOUND, &mut whole);
                assert_eq!(whole, String::from_utf8_lossy(&bytes).as_bytes());
                let mut stream = Chunked::new(&SOUND);
                bytes.iter().for_each(|&byte| stream.push(&[byte], &mut cut));
                assert_eq!(stream.finish(&mut cut), Some(validate(&bytes, &SOUND)));
                assert_eq!(whole, cut);
            }
        }
    }
}
