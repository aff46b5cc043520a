//! Decoders in shared libraries, by the C interface of `adapters/c/utfuzz_decoder.h`: loaded into this process, as ordinary
//! decoders, or asked by [`Server`] on behalf of another process.
#![allow(unsafe_code, reason = "the functions of a library in C")]

use super::protocol::{Answer, Entry, Operation};
use super::{Failure, Reading, answered, info, output};
use crate::decoder::{Decoder, Ending, Info, Stream};
use crate::error::Error;
use crate::text::{hex, quoted, shown};
use crate::utf8::Validity;
use core::ffi::{CStr, c_char, c_void};
use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// The version of the table.
const VERSION: u32 = 1;

/// A table that states more entry points than this is refused.
const MOST: u32 = 10_000;

/// The texts of an entry point in the order of the header, by their keys in a greeting.
const TEXTS: [&str; 9] =
    ["name", "package", "version", "lineage", "answers", "output", "contract", "source", "environment"];

/// `utfuzz_plugin`.
#[repr(C)]
struct RawTable {
    version: u32,
    count: u32,
    entries: *const RawEntry,
}

/// `utfuzz_entry`.
#[repr(C)]
struct RawEntry {
    texts: [*const c_char; TEXTS.len()],
    context: *mut c_void,
    decode: Option<Decode>,
    open: Option<Open>,
    push: Option<Decode>,
    finish: Option<Finish>,
    drop: Option<Free>,
}

/// `utfuzz_answer`.
#[repr(C)]
struct RawAnswer {
    verdict: i32,
    has_output: i32,
    offset: isize,
    length: isize,
}

// The interface forbids throwing. What is thrown nevertheless ends the process, as it does in C.
type GetTable = unsafe extern "C-unwind" fn() -> *const RawTable;
type Decode = unsafe extern "C-unwind" fn(*mut c_void, *const u8, usize, *mut RawAnswer, Write, *mut c_void);
type Open = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;
type Finish = unsafe extern "C-unwind" fn(*mut c_void, *mut RawAnswer, Write, *mut c_void);
type Free = unsafe extern "C-unwind" fn(*mut c_void);
type Write = unsafe extern "C" fn(*mut c_void, *const c_void, usize);

/// A decoder in a shared library that is loaded into this process.
pub struct Plugin {
    info: Info,
    entry: Entry,
    texts: Vec<(&'static str, &'static str)>,
    context: *mut c_void,
    decode: Decode,
    stream: Option<StreamFunctions>,
}

// SAFETY: the header demands that functions may be called by several threads at once, with the same context.
unsafe impl Send for Plugin {}
// SAFETY: as above.
unsafe impl Sync for Plugin {}

#[derive(Clone, Copy)]
struct StreamFunctions {
    open: Open,
    push: Decode,
    finish: Finish,
    drop: Free,
}

/// Loads a shared library into this process, for the rest of its life. What the library does when it is loaded and asked,
/// it does to this process.
///
/// # Errors
/// There is no such file, it is not a library, it does not export the function of the header, or its table is wrong.
///
/// ```
/// # use utfuzz_core as utfuzz;
/// let missing = utfuzz::peers::foreign::plugin::load("none/such.so".as_ref()).err().unwrap();
/// assert!(missing.to_string().starts_with("none/such.so: "));
/// ```
pub fn load(path: &Path) -> Result<Vec<Plugin>, Error> {
    let full = fs::canonicalize(path).map_err(|error| Error::io(path, &error))?;
    read(&full).map_err(|why| Error::usage(format!("{}: {why}", shown(path))))
}

/// The same for an absolute path.
///
/// # Errors
/// Why the library cannot be used; the text does not name it.
pub fn read(path: &Path) -> Result<Vec<Plugin>, String> {
    // SAFETY: what the library runs when it is loaded is as trustworthy as its decoder, which is to be run.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| format!("it cannot be loaded as a shared library: {}", reason(&error)))?;
    // What it has registered with the process could be called until the end.
    let library = ManuallyDrop::new(library);
    // SAFETY: the header declares the function with this type.
    let function = unsafe { library.get::<GetTable>(b"utfuzz_plugin_v1\0") };
    let function = function.map_err(|_| {
        "it exports no function utfuzz_plugin_v1, which adapters/c/utfuzz_decoder.h declares".to_owned()
    })?;
    // SAFETY: it returns null or a table that does not change while the library is loaded.
    let table: Option<&'static RawTable> = unsafe { function().as_ref() };
    let table = table.ok_or("utfuzz_plugin_v1 returns NULL; it must return a table of entry points")?;
    if table.version != VERSION {
        return Err(format!(
            "its table has version {}, and utfuzz_plugin_v1 returns one of version {VERSION}; set `version` to \
             UTFUZZ_PLUGIN_VERSION",
            table.version
        ));
    }
    if table.entries.is_null() || !(1..=MOST).contains(&table.count) {
        let entries = if table.entries.is_null() { "" } else { "not " };
        return Err(format!(
            "the table has `count` {}, and its `entries` are {entries}NULL; a table has 1 to {MOST} entry points",
            table.count
        ));
    }
    // SAFETY: the table states how many there are, and they do not change while the library is loaded.
    let entries: &'static [RawEntry] = unsafe { core::slice::from_raw_parts(table.entries, table.count as usize) };
    entries.iter().enumerate().map(|(index, raw)| Plugin::of(index, raw)).collect()
}

/// Why a library cannot be loaded, as the loader of the system says it.
fn reason(error: &libloading::Error) -> String {
    let source = core::error::Error::source(error).map(|source| format!(": {source}"));
    format!("{error}{}", source.unwrap_or_default())
}

impl Plugin {
    fn of(index: usize, raw: &'static RawEntry) -> Result<Self, String> {
        let mut texts = Vec::new();
        for (key, pointer) in TEXTS.into_iter().zip(raw.texts) {
            // SAFETY: null, or zero-terminated and unchanged while the library is loaded.
            let text = NonNull::new(pointer.cast_mut()).map(|text| unsafe { CStr::from_ptr(text.as_ptr()) });
            let wrong = |what: String| format!("the {key} of entry point {} {what}", index + 1);
            match text.map(CStr::to_str) {
                None if key == "name" => return Err(wrong("is NULL".into())),
                None => {}
                Some(Err(_)) => {
                    let bytes = text.unwrap_or_default().to_bytes();
                    return Err(wrong(format!("is not UTF-8: {}", hex(&bytes[..bytes.len().min(40)]))));
                }
                Some(Ok(text)) if text.contains(['\n', '\r']) => {
                    return Err(wrong(format!("is not one line: {}", quoted(text, 80))));
                }
                Some(Ok(text)) => texts.push((key, text)),
            }
        }
        let entry = Entry::of(texts.iter().copied()).map_err(|why| format!("entry point {}: {why}", index + 1))?;
        let lacks =
            |function: &str| format!("the entry point {} lacks the function {function}", quoted(&entry.name, 80));
        let stream = |function: &str| format!("{}, which answers=stream requires", lacks(function));
        Ok(Self {
            info: info(&entry),
            texts,
            context: raw.context,
            decode: raw.decode.ok_or_else(|| lacks("decode"))?,
            stream: match entry.answers.stream {
                false => None,
                true => Some(StreamFunctions {
                    open: raw.open.ok_or_else(|| stream("open"))?,
                    push: raw.push.ok_or_else(|| stream("push"))?,
                    finish: raw.finish.ok_or_else(|| stream("finish"))?,
                    drop: raw.drop.ok_or_else(|| stream("drop"))?,
                }),
            },
            entry,
        })
    }

    /// The keys and values of this entry point in the greeting of an adapter.
    pub fn texts(&self) -> &[(&'static str, &'static str)] {
        &self.texts
    }

    fn whole(&self, bytes: &[u8]) -> Said {
        // SAFETY: the arguments are as the header describes them.
        Said::by(|answer, to| unsafe {
            (self.decode)(self.context, bytes.as_ptr(), bytes.len(), answer, append, to);
        })
    }
}

/// What a function of a library has answered, unchecked.
pub struct Said {
    verdict: u8,
    offset: i32,
    length: i32,
    output: Option<Vec<u8>>,
}

impl Said {
    /// What this call answers. It gets the place for the answer, and what [`append`] appends to.
    fn by(call: impl FnOnce(*mut RawAnswer, *mut c_void)) -> Self {
        let mut written = Vec::<u8>::new();
        let mut raw = RawAnswer { verdict: 2, has_output: 0, offset: -1, length: -1 };
        call(&raw mut raw, (&raw mut written).cast());
        // A number that does not fit is not an answer; nor is any negative number other than -1.
        let number = |number: isize| i32::try_from(number).unwrap_or(i32::MIN);
        Self {
            verdict: u8::try_from(raw.verdict).unwrap_or(u8::MAX),
            offset: number(raw.offset),
            length: number(raw.length),
            output: (raw.has_output != 0 || matches!(raw.verdict, 3 | 4)).then_some(written),
        }
    }

    fn nothing() -> Self {
        Self { verdict: 2, offset: -1, length: -1, output: None }
    }

    /// That the decoder failed, for this reason.
    pub fn failed(why: &str) -> Self {
        Self { verdict: 4, output: Some(why.into()), ..Self::nothing() }
    }

    /// Appends the answer as in a frame.
    pub fn write(&self, to: &mut Vec<u8>) {
        to.push(self.verdict);
        let len = self.output.as_ref().map_or(-1, |output| i32::try_from(output.len()).unwrap_or(i32::MIN));
        [self.offset, self.length, len].iter().for_each(|number| to.extend_from_slice(&number.to_le_bytes()));
        to.extend_from_slice(self.output.as_deref().unwrap_or_default());
    }

    /// The answer. If it is not a valid one, the question ends as if an adapter had given it.
    fn answer(self) -> Answer {
        let Self { verdict, offset, length, output } = self;
        let what = || format!("verdict {verdict}, offset {offset}, length {length}");
        let garbage = || Failure { ending: Some(Ending::Garbage), what: what().into() };
        answered(Answer::new(verdict, offset, length, output).ok_or_else(garbage))
    }
}

/// Appends to what is written in answer to a question.
unsafe extern "C" fn append(to: *mut c_void, bytes: *const c_void, length: usize) {
    if length > 0 {
        // SAFETY: `to` is the vector in `Said::by`, which does nothing with it during the call; and the header demands that
        // so many bytes can be read.
        unsafe { (*to.cast::<Vec<u8>>()).extend_from_slice(core::slice::from_raw_parts(bytes.cast(), length)) }
    }
}

/// A stream of the library.
struct Opened {
    functions: StreamFunctions,
    state: NonNull<c_void>,
}

impl Opened {
    const NONE: &str = "open returns NULL";

    fn new(plugin: &Plugin) -> Option<Self> {
        let functions = plugin.stream?;
        // SAFETY: as the header describes it.
        let state = unsafe { (functions.open)(plugin.context) };
        Some(Self { functions, state: NonNull::new(state)? })
    }

    fn push(&mut self, bytes: &[u8]) -> Said {
        // SAFETY: the state was opened and not yet dropped; the other arguments are as the header describes them.
        Said::by(|answer, to| unsafe {
            (self.functions.push)(self.state.as_ptr(), bytes.as_ptr(), bytes.len(), answer, append, to);
        })
    }

    fn finish(&mut self) -> Said {
        // SAFETY: as above.
        Said::by(|answer, to| unsafe { (self.functions.finish)(self.state.as_ptr(), answer, append, to) })
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: the state was opened, and is dropped once.
        unsafe { (self.functions.drop)(self.state.as_ptr()) }
    }
}

/// Answers the operations of the adapter protocol.
pub struct Server<'p> {
    plugin: &'p Plugin,
    streams: HashMap<u32, Opened>,
}

impl<'p> Server<'p> {
    /// No stream is open.
    pub fn new(plugin: &'p Plugin) -> Self {
        Self { plugin, streams: HashMap::new() }
    }

    /// The answer to one operation.
    pub fn ask(&mut self, operation: Operation, bytes: &[u8]) -> Said {
        let (number, is_push) = match operation {
            Operation::Decode => return self.plugin.whole(bytes),
            Operation::Push(number) => (number, true),
            Operation::Finish(number) => (number, false),
            Operation::Drop(number) => {
                self.streams.remove(&number);
                return Said::nothing();
            }
        };
        if !self.streams.contains_key(&number) {
            self.streams.extend(Opened::new(self.plugin).map(|opened| (number, opened)));
        }
        match self.streams.get_mut(&number) {
            None => Said::failed(Opened::NONE),
            Some(stream) if is_push => stream.push(bytes),
            Some(stream) => stream.finish(),
        }
    }
}

impl Decoder for Plugin {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let parts = self.entry.answers;
        parts.verdict.then(|| self.whole(bytes).answer().validity(parts)).flatten()
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        self.entry.answers.output.then(|| output(&self.entry, &self.whole(bytes).answer(), out)).flatten()
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        self.stream.map(|_| {
            let (opened, reading) = (Opened::new(self), Reading::new(&self.entry));
            Box::new(PluginStream { entry: &self.entry, opened, reading }) as Box<dyn Stream>
        })
    }
}

/// A stream of a [`Plugin`] in this process.
struct PluginStream<'p> {
    entry: &'p Entry,
    opened: Option<Opened>,
    reading: Reading,
}

impl PluginStream<'_> {
    fn ask(&mut self, ask: impl FnOnce(&mut Opened) -> Said) -> Answer {
        self.opened.as_mut().map_or_else(|| Said::failed(Opened::NONE), ask).answer()
    }
}

impl Stream for PluginStream<'_> {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let answer = self.ask(|stream| stream.push(chunk));
        self.reading.push(self.entry, &answer, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        let answer = self.ask(Opened::finish);
        self.reading.finish(self.entry, &answer, out)
    }

    fn is_answered(&self) -> bool {
        !self.reading.could_not_say
    }
}
