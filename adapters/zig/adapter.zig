// std.unicode of Zig: the validators, the views, the conversions to UTF-16 and the formatter that replaces. Input and
// output are those of the C library, because Zig's own change with every version.
const std = @import("std");
const builtin = @import("builtin");
const unicode = std.unicode;

extern "c" fn read(fd: c_int, to: [*]u8, size: usize) isize;
extern "c" fn write(fd: c_int, from: [*]const u8, size: usize) isize;
extern "c" fn malloc(size: usize) ?[*]u8;
extern "c" fn free(at: ?[*]u8) void;

const Answer = struct { verdict: u8, offset: i32 = -1, length: i32 = -1, text: ?[]u8 = null };
const Entry = struct { name: []const u8, more: []const u8, run: *const fn (s: []const u8, to: []u8) Answer };
const docs = "source=https://ziglang.org/documentation/master/std/#std.unicode.";
const strict = "\ncontract=rfc3629 no-output incomplete-is-error\n" ++ docs;

fn verdict(good: bool) Answer {
    return .{ .verdict = if (good) 1 else 0 };
}
fn validate(s: []const u8, _: []u8) Answer {
    return verdict(unicode.utf8ValidateSlice(s));
}
fn wtf8Validate(s: []const u8, _: []u8) Answer {
    return verdict(unicode.wtf8ValidateSlice(s));
}
fn count(s: []const u8, _: []u8) Answer {
    _ = unicode.utf8CountCodepoints(s) catch return verdict(false);
    return verdict(true);
}
fn decode(s: []const u8, to: []u8) Answer { // character by character, as far as it goes
    var at: usize = 0;
    var made: usize = 0;
    while (at < s.len) {
        const length = unicode.utf8ByteSequenceLength(s[at]) catch return .{ .verdict = 0, .offset = @intCast(at) };
        if (at + length > s.len) return .{ .verdict = 0, .offset = @intCast(at), .length = -1 };
        const c = unicode.utf8Decode(s[at .. at + length]) catch return .{ .verdict = 0, .offset = @intCast(at) };
        std.mem.writeInt(u32, to[made..][0..4], c, .little);
        made += 4;
        at += length;
    }
    return .{ .verdict = 1, .text = to[0..made] };
}
fn view(s: []const u8, to: []u8) Answer {
    var characters = (unicode.Utf8View.init(s) catch return verdict(false)).iterator();
    var made: usize = 0;
    while (characters.nextCodepoint()) |c| : (made += 4) std.mem.writeInt(u32, to[made..][0..4], c, .little);
    return .{ .verdict = 1, .text = to[0..made] };
}
fn utf16(s: []const u8, to: []u8) Answer {
    const units: [*]u16 = @ptrCast(@alignCast(to.ptr));
    const made = unicode.utf8ToUtf16Le(units[0 .. to.len / 2], s) catch return verdict(false);
    return .{ .verdict = 1, .text = to[0 .. 2 * made] };
}
fn format(s: []const u8, to: []u8) Answer {
    return .{ .verdict = 2, .text = std.fmt.bufPrint(to, "{f}", .{unicode.fmtUtf8(s)}) catch return .{ .verdict = 4 } };
}
const entries = [_]Entry{
    .{ .name = "zig-utf8validateslice", .more = "verdict" ++ strict ++ "utf8ValidateSlice", .run = validate },
    .{ .name = "zig-wtf8validateslice", .more = "verdict\ncontract=rfc3629-with-surrogates no-output incomplete-is-error\n" ++ docs ++ "wtf8ValidateSlice", .run = wtf8Validate },
    .{ .name = "zig-utf8countcodepoints", .more = "verdict", .run = count },
    .{ .name = "zig-utf8decode", .more = "verdict offset output\noutput=utf-32le", .run = decode },
    .{ .name = "zig-utf8view", .more = "verdict output\noutput=utf-32le" ++ strict ++ "Utf8View", .run = view },
    .{ .name = "zig-utf8toutf16le", .more = "verdict output\noutput=utf-16le" ++ strict ++ "utf8ToUtf16Le", .run = utf16 },
    .{ .name = "zig-fmtutf8", .more = "output\ncontract=rfc3629 maximal-subpart U+FFFD incomplete-is-error\n" ++ docs ++ "fmtUtf8", .run = format },
};

fn readAll(to: []u8) bool {
    var at: usize = 0;
    while (at < to.len) {
        const got = read(0, to.ptr + at, to.len - at);
        if (got <= 0) return false;
        at += @intCast(got);
    }
    return true;
}
fn writeAll(from: []const u8) void {
    var at: usize = 0;
    while (at < from.len) {
        const done = write(1, from.ptr + at, from.len - at);
        if (done <= 0) return;
        at += @intCast(done);
    }
}
fn say(parts: []const []const u8) void {
    for (parts) |part| writeAll(part);
}
fn number(from: []const u8) usize {
    return std.mem.readInt(u32, from[0..4], .little);
}
fn put(to: []u8, value: i32) void {
    std.mem.writeInt(i32, to[0..4], value, .little);
}
pub export fn main(argc: c_int, argv: [*][*:0]u8) c_int {
    say(&.{ "utfuzz 1 frames\npackage=zig\nversion=", builtin.zig_version_string, "\nlineage=zig-std\n" });
    var serve = &entries[0];
    for (&entries) |*entry| {
        if (argc > 1 and !std.mem.eql(u8, std.mem.span(argv[1]), entry.name)) continue;
        if (argc > 1) serve = entry;
        say(&.{ "name=", entry.name, "\nanswers=", entry.more, "\n" });
    }
    say(&.{"\n"});
    while (true) {
        var size: [4]u8 = undefined;
        if (!readAll(&size)) return 0;
        const body = malloc(number(&size) + 1).?[0..number(&size)];
        if (!readAll(body)) return 0;
        const room = 4 + 16 * body.len + 64; // an answer is at most four times its input, and its head of 13 bytes
        const reply = malloc(room).?[0..room];
        const text = malloc(room).?[0..room];
        var at: usize = 0;
        var made: usize = 4;
        while (at < body.len) {
            const length = number(body[at + 5 ..]);
            const answer = serve.run(body[at + 9 .. at + 9 + length], text);
            at += 9 + length;
            reply[made] = answer.verdict;
            put(reply[made + 1 ..], answer.offset);
            put(reply[made + 5 ..], answer.length);
            put(reply[made + 9 ..], if (answer.text) |t| @intCast(t.len) else -1);
            made += 13;
            if (answer.text) |t| {
                @memcpy(reply[made .. made + t.len], t);
                made += t.len;
            }
        }
        put(reply, @intCast(made - 4));
        writeAll(reply[0..made]);
        free(body.ptr);
        free(reply.ptr);
        free(text.ptr);
    }
}
