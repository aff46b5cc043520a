use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::{Duration, Instant};
use utfuzz::case::Case;
use utfuzz::judge::isolate::guard_pages::GuardedBuffer;
use utfuzz::judge::isolate::{Child, is_child, name_crashes, note_questions};
use utfuzz::judge::{Ending, Judge};
use utfuzz::utf8::Validity;
use utfuzz::{Decoder, Info, Stream};

/// A validator that does something else when it sees this byte.
const BYTE: u8 = 0xFE;

struct Liar {
    info: Info,
    act: fn(),
}

impl Decoder for Liar {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        if bytes.contains(&BYTE) {
            (self.act)();
        }
        Some(std::str::from_utf8(bytes).map(drop).into())
    }
}

/// Its streams panic when they are dropped.
struct Dropped(Info);

struct DroppedStream(Vec<u8>);

impl Decoder for Dropped {
    fn info(&self) -> &Info {
        &self.0
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(DroppedStream(Vec::new())))
    }
}

impl Stream for DroppedStream {
    fn push(&mut self, chunk: &[u8], _: &mut Vec<u8>) {
        self.0.extend_from_slice(chunk);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        out.extend(String::from_utf8_lossy(&self.0).bytes());
        Some(std::str::from_utf8(&std::mem::take(&mut self.0)).map(drop).into())
    }
}

impl Drop for DroppedStream {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a payload that panics");
    }
}

#[allow(unconditional_recursion, reason = "the stack is to overflow")]
fn overflow(depth: u64) -> u64 {
    std::hint::black_box([depth; 64])[7] + overflow(std::hint::black_box(depth + 1))
}

#[allow(unsafe_code, reason = "this is the fault")]
fn access() {
    // SAFETY: there is none; the access ends the process.
    unsafe { std::ptr::without_provenance::<u8>(8).read_volatile() };
}

#[allow(unsafe_code, reason = "this is the fault")]
fn exit_at_once() {
    // SAFETY: it ends the process.
    unsafe { libc::_exit(0) }
}

#[allow(unsafe_code, reason = "this is the fault")]
fn kill() {
    // SAFETY: it ends the process.
    unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
}

/// The name of a decoder, what it does, the end of its signature, and what is printed about it without isolation: empty
/// where the process has no chance to print anything.
type Row = (&'static str, fn(), &'static str, &'static str);

const LIARS: [Row; 7] = [
    ("aborts", || std::process::abort(), "abort", "SIGABRT"),
    (
        "overflows",
        || {
            std::hint::black_box(overflow(0));
        },
        "stack-overflow",
        "SIGSEGV",
    ),
    ("accesses", access, "fault", "SIGSEGV"),
    ("exits", || std::process::exit(0), "exit", "exit"),
    ("exits.at-once", exit_at_once, "exit", ""),
    ("kills_itself", kill, "kill", ""),
    ("needs-memory", || drop(std::hint::black_box(Vec::<u8>::with_capacity(1 << 33))), "abort", "NO CRASH"),
];

/// Accepts F0 to F4 alone, and then ends the process.
struct WrongFirst(Info);

impl Decoder for WrongFirst {
    fn info(&self) -> &Info {
        &self.0
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        if bytes.contains(&BYTE) {
            std::process::abort();
        }
        let is_wrong = bytes.first().is_some_and(|first| (0xF0..=0xF4).contains(first));
        Some(if is_wrong { Validity::Valid } else { std::str::from_utf8(bytes).map(drop).into() })
    }
}

fn liar(name: &'static str, act: fn()) -> Box<dyn Decoder> {
    Box::new(Liar { info: Info::new(name, "1.0").contract(utfuzz::Contract::VALIDATOR), act })
}

fn decoders() -> Vec<Box<dyn Decoder>> {
    let mut all = vec![liar("fine", || ())];
    all.extend(LIARS.iter().map(|(name, act, ..)| liar(name, *act)));
    all.push(liar("throws-a-bomb", || std::panic::panic_any(Bomb)));
    all.push(liar("takes-its-time", || std::thread::sleep(Duration::from_millis(15))));
    all.push(liar("hangs", || std::thread::sleep(Duration::from_secs(1000))));
    all.push(Box::new(WrongFirst(Info::new("wrong-first", "1.0").contract(utfuzz::Contract::VALIDATOR))));
    all.push(Box::new(Dropped(Info::new("dropped", "1.0"))));
    all
}

fn badly_named() -> Vec<Box<dyn Decoder>> {
    let name = std::env::var("NAME").unwrap();
    vec![liar("fine", || ()), Box::new(Liar { info: Info::new("x", "1.0").name(name), act: || () })]
}

struct NoInfo;

impl Decoder for NoInfo {
    fn info(&self) -> &Info {
        panic!("no info")
    }
}

fn without_info() -> Vec<Box<dyn Decoder>> {
    vec![liar("fine", || ()), Box::new(NoInfo)]
}

fn again(directory: &Path, args: &[&str]) -> (Output, String, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(args).current_dir(directory).env("RUST_BACKTRACE", "0").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    (output, out, err)
}

fn check(holds: bool, what: impl std::fmt::Display) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(what.to_string().into()) }
}

/// Every decoder that ends its process is named with the input, and the others are checked.
fn each_is_named_under_isolation() -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let filter: Vec<&str> = LIARS.iter().map(|(name, ..)| *name).chain(["fine", "throws-a-bomb", "std"]).collect();
    let args = ["check", "--bytes", "1", "--isolate", "--json", "--decoders", &filter.join(",")];
    let (output, out, err) = again(directory.path(), &args);
    check(output.status.code() == Some(1), format!("{:?}: {out}{err}", output.status))?;
    let record: serde_json::Value = serde_json::from_str(&out)?;
    let found = record["divergences"].as_array().unwrap();
    for (name, _, subject, _) in LIARS {
        let signature = format!("panic/{name}/{subject}/anywhere");
        let of_this: Vec<_> = found.iter().filter(|found| found["decoder"] == name).collect();
        check(of_this.len() == 1 && of_this[0]["signature"] == signature, format!("{signature}: {of_this:?}"))?;
        check(of_this[0]["witness_hex"] == "FE", format!("{signature}: {of_this:?}"))?;
    }
    let bomb: Vec<_> = found.iter().filter(|found| found["decoder"] == "throws-a-bomb").collect();
    check(bomb.len() == 1 && bomb[0]["law"] == "panic", format!("{bomb:?}"))?;
    check(found.len() == LIARS.len() + 1, format!("{found:#?}"))?;
    for judged in record["decoders"].as_array().unwrap() {
        let is_liar = LIARS.iter().any(|(name, ..)| judged["name"] == *name);
        let expected = if is_liar { None } else { Some(256) };
        check(judged["comparisons"].as_u64() >= expected && judged["comparisons"].is_null() == is_liar, judged)?;
    }
    check(record["cases"].as_u64() >= Some(256), &record["cases"])?;
    // The same, for people.
    let (_, out, _) = again(directory.path(), &[&args[..4], &["--decoders", "fine,exits"]].concat());
    check(out.contains("panic/exits/exit/anywhere") && out.contains("exit with status 0"), out)
}

fn a_clean_check_is_clean_under_isolation() -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let args = ["check", "--bytes", "2", "--isolate", "--decoders", "fine,std"];
    let (output, out, err) = again(directory.path(), &args);
    check(output.status.success() && out.contains("all agree") && err.is_empty(), format!("{out}{err}"))
}

fn what_was_found_before_a_crash_is_not_lost() -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let args = ["check", "--bytes", "1", "--isolate", "--json", "--decoders", "wrong-first"];
    let (output, out, err) = again(directory.path(), &args);
    check(output.status.code() == Some(1), format!("{:?}: {out}{err}", output.status))?;
    let record: serde_json::Value = serde_json::from_str(&out)?;
    let found = record["divergences"].as_array().unwrap();
    let laws: Vec<_> = found.iter().map(|found| found["law"].as_str().unwrap()).collect();
    check(laws == ["panic", "verdict"], format!("{found:?}"))?;
    let is_it = found[1]["decoder"] == "wrong-first" && found[1]["witness_hex"].as_str().unwrap().starts_with("F0");
    check(is_it, &found[1])?;
    check(found[0]["signature"] == "panic/wrong-first/abort/anywhere", &found[0])
}

/// Without isolation the process ends, but says because of which decoder, and never with status 0.
fn each_is_named_without_isolation() -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    fs::write(directory.path().join("case.bin"), [b'a', BYTE])?;
    for (name, _, _, how) in LIARS {
        let (output, out, err) = again(directory.path(), &["replay", "case.bin", "--decoders", name]);
        let said = format!("{name}: {:?}\n{out}{err}", output.status);
        match how {
            "" => continue,
            "NO CRASH" => check(output.status.success(), said)?,
            _ => {
                let line = format!("utfuzz: panic/{name}: ended the process by {how} on 2 bytes: 61FE; ");
                check(!output.status.success() && err.contains(&line), &said)?;
                check(err.matches("utfuzz: ").count() == 1, said)?;
            }
        }
    }
    Ok(())
}

fn panics_of_destructors_are_named() -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    fs::write(directory.path().join("case.bin"), [b'a', BYTE])?;
    let (output, out, err) = again(directory.path(), &["replay", "case.bin", "--decoders", "throws-a-bomb"]);
    check(output.status.code() == Some(1) && out.contains("panic/throws-a-bomb/"), format!("{out}{err}"))?;
    for index in 0..300u32 {
        fs::create_dir_all(directory.path().join("many"))?;
        fs::write(directory.path().join("many").join(index.to_string()), format!("{index} text"))?;
    }
    let (output, out, err) = again(directory.path(), &["replay", "-r", "many", "--decoders", "dropped"]);
    check(output.status.code() == Some(1) && out.contains("panic/dropped/"), format!("{out}{err}"))
}

fn names_are_checked() -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    for name in ["", "li\nar/../..", "Upper", "a b", "fine", "\u{e9}"] {
        let mut command = Command::new(std::env::current_exe()?);
        let output = command.args(["list"]).env("NAME", name).env("REGISTER", "badly-named").output()?;
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        let named = err.contains("decoder 2 of the list is named") && err.lines().count() == 1;
        check(output.status.code() == Some(2) && output.stdout.is_empty() && named, format!("{name:?}: {err}"))?;
    }
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.args(["list"]).env("REGISTER", "without-info").current_dir(directory.path()).output()?;
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    check(output.status.code() == Some(2) && err.contains("decoder 2 of the list panics"), err)
}

/// The same through the library: a process that judges is supervised.
fn a_process_is_supervised() -> Result<(), Failed> {
    let run = |name: &str, timeout| -> Result<_, Failed> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["judge", name]);
        Ok(Child::new(command)?.run(timeout)?)
    };
    let hung = run("hangs", Duration::from_millis(300))?.crash;
    let hung = hung.ok_or("it is not reported")?;
    check((&*hung.decoder, hung.ending, &*hung.bytes) == ("hangs", Ending::Hang, b"a\xFE"), format!("{hung:?}"))?;
    let fine = run("fine", Duration::from_secs(60))?;
    check(fine.crash.is_none() && fine.status.success(), format!("{fine:?}"))?;
    let crashed = run("aborts", Duration::from_secs(60))?.crash.ok_or("it is not reported")?;
    check((crashed.ending, &*crashed.bytes) == (Ending::Abort, b"a\xFE"), format!("{crashed:?}"))
}

/// The timeout is for one answer, and not for all of them together.
fn a_slow_process_is_not_taken_for_one_that_hangs() -> Result<(), Failed> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["judge", "takes-its-time", "10"]);
    let (timeout, start) = (Duration::from_millis(300), Instant::now());
    let ended = Child::new(command)?.run(timeout)?;
    check(ended.crash.is_none() && ended.status.success(), format!("{ended:?}"))?;
    check(start.elapsed() > 2 * timeout, format!("too few questions: {:?}", start.elapsed()))
}

/// The line about a crash has the number of bytes, and all of them up to 4096.
fn long_inputs_are_printed_up_to_4096_bytes() -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    for (len, end) in [(12, "61FE; "), (100, "61FE; "), (4096, "61FE; "), (4097, "6161...; ")] {
        let mut bytes = vec![b'a'; len];
        bytes[len - 1] = BYTE;
        fs::write(directory.path().join("case.bin"), bytes)?;
        let (_, out, err) = again(directory.path(), &["replay", "case.bin", "--decoders", "aborts"]);
        let middle = "61".repeat(len.min(4096) - 2);
        let line = format!("utfuzz: panic/aborts: ended the process by SIGABRT on {len} bytes: {middle}{end}");
        check(err.contains(&line), format!("{out}{err}"))?;
    }
    Ok(())
}

/// The handler that opens guard pages passes on what is none of its business, even if the stack is exhausted.
fn a_crash_is_named_after_guard_pages_were_in_use() -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    for name in ["accesses", "overflows"] {
        let (output, out, err) = again(directory.path(), &["judge-here", name]);
        let line = format!("utfuzz: panic/{name}: ended the process by SIGSEGV on 2 bytes: 61FE; ");
        check(!output.status.success() && err.contains(&line), format!("{:?}: {out}{err}", output.status))?;
    }
    Ok(())
}

/// Guard pages and what is between them are given back.
fn guarded_memory_is_freed() -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let (output, out, err) = again(directory.path(), &["guard"]);
    check(output.status.success(), format!("{:?}: {out}{err}", output.status))
}

/// ^C reaches this process and its children; what they have found until then is printed.
fn an_interrupted_check_prints_what_it_has() -> Result<(), Failed> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["check", "--bytes", "4", "--isolate", "--json", "--decoders", "fine,throws-a-bomb"]);
    let child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    std::thread::sleep(Duration::from_secs(2));
    let group = format!("-{}", child.id());
    check(Command::new("kill").args(["-INT", "--", &group]).status()?.success(), "no process to interrupt")?;
    let output = child.wait_with_output()?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let record: serde_json::Value = serde_json::from_str(&out).map_err(|error| format!("{error}: {out}{err}"))?;
    let found = record["divergences"].as_array().unwrap();
    check(
        found.len() == 1 && found[0]["law"] == "panic" && found[0]["decoder"] == "throws-a-bomb",
        format!("{found:?}"),
    )?;
    check(output.status.code() == Some(1) && err.contains("note: interrupted"), format!("{:?} {err}", output.status))
}

/// Creates and drops many guarded buffers: whether little address space is in use after it.
fn guard() -> ExitCode {
    /// Each has ten pages.
    const MANY: usize = 2000;
    let in_use = || -> usize {
        let sizes = fs::read_to_string("/proc/self/statm").unwrap();
        sizes.split(' ').next().unwrap().parse().unwrap()
    };
    drop(GuardedBuffer::new().unwrap());
    let before = in_use();
    (0..MANY).for_each(|_| drop(GuardedBuffer::new().unwrap()));
    let after = in_use();
    if after < before + MANY {
        return ExitCode::SUCCESS;
    }
    println!("{before} pages before, {after} after");
    ExitCode::FAILURE
}

fn judge(name: &str, times: usize) -> ExitCode {
    let directory = is_child().expect("it is supervised");
    note_questions(&directory).unwrap();
    judge_here(name, times)
}

/// Judges one input without the byte, and then so often one with it.
fn judge_here(name: &str, times: usize) -> ExitCode {
    let all = decoders();
    let decoder = all.iter().find(|decoder| decoder.info().name == name).unwrap();
    let mut judge = Judge::new([&**decoder]);
    judge.judge(&Case::new(b"ab"));
    (0..times).for_each(|_| drop(judge.judge(&Case::new(b"a\xFE")).to_vec()));
    ExitCode::SUCCESS
}

pub(crate) fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("check" | "replay") => return utfuzz::cli::Cli::main_with(decoders),
        Some("list") => {
            let is_without = std::env::var("REGISTER").as_deref() == Ok("without-info");
            return utfuzz::cli::Cli::main_with(if is_without { without_info } else { badly_named });
        }
        Some("judge") => return judge(&args[2], args.get(3).map_or(1, |times| times.parse().unwrap())),
        Some("judge-here") => {
            let _guard = name_crashes(3);
            return judge_here(&args[2], 1);
        }
        Some("guard") => return guard(),
        _ => {}
    }
    let trials = vec![
        Trial::test("each_is_named_under_isolation", each_is_named_under_isolation),
        Trial::test("a_clean_check_is_clean_under_isolation", a_clean_check_is_clean_under_isolation),
        Trial::test("what_was_found_before_a_crash_is_not_lost", what_was_found_before_a_crash_is_not_lost),
        Trial::test("each_is_named_without_isolation", each_is_named_without_isolation),
        Trial::test("panics_of_destructors_are_named", panics_of_destructors_are_named),
        Trial::test("names_are_checked", names_are_checked),
        Trial::test("a_process_is_supervised", a_process_is_supervised),
        Trial::test("a_slow_process_is_not_taken_for_one_that_hangs", a_slow_process_is_not_taken_for_one_that_hangs),
        Trial::test("long_inputs_are_printed_up_to_4096_bytes", long_inputs_are_printed_up_to_4096_bytes),
        Trial::test("a_crash_is_named_after_guard_pages_were_in_use", a_crash_is_named_after_guard_pages_were_in_use),
        Trial::test("guarded_memory_is_freed", guarded_memory_is_freed),
        Trial::test("an_interrupted_check_prints_what_it_has", an_interrupted_check_prints_what_it_has),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
