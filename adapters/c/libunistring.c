/* libunistring: checking, conversion and iteration. */
#include "adapter.h"
#include <stdio.h>
#include <unistr.h>
#include <unistring/version.h>

static void check(const entry *e, const uint8_t *in, size_t n)
{
    const uint8_t *bad = u8_check(in, n);
    (void)e;
    if (bad) rejected(bad - in, -1);
    else accepted();
}

static void convert(const entry *e, const uint8_t *in, size_t n)
{
    size_t length = 0;
    void *out = e->with ? (void *)u8_to_u32(in, n, NULL, &length) : (void *)u8_to_u16(in, n, NULL, &length);
    if (out || !n) accepted(), write_output(out, length * (e->with ? 4 : 2));
    else rejected(-1, -1);
    free(out);
}

static void next(const entry *e, const uint8_t *in, size_t n)
{
    int (*f)(ucs4_t *, const uint8_t *, size_t) = e->with ? u8_mbtouc_unsafe : u8_mbtouc;
    write_output("", 0);
    for (size_t at = 0; at < n;) {
        ucs4_t c;
        at += (size_t)f(&c, in + at, n - at), write_output(&c, 4);
    }
}

static void strict(const entry *e, const uint8_t *in, size_t n)
{
    (void)e, accepted(), write_output("", 0);
    for (size_t at = 0; at < n;) {
        ucs4_t c;
        int length = u8_mbtoucr(&c, in + at, n - at);
        if (length < 0) { rejected((long)at, length == -2 ? 0 : -1); return; }
        write_output(&c, 4), at += (size_t)length;
    }
}

static void length(const entry *e, const uint8_t *in, size_t n)
{
    (void)e, accepted();
    for (size_t at = 0; at < n;) {
        int l = u8_mblen(in + at, n - at);
        if (l < 0) { rejected((long)at, -1); return; }
        at += l ? (size_t)l : 1;
    }
}

#define DOC "https://www.gnu.org/software/libunistring/manual/html_node/"
static const entry entries[] = {
    {"libunistring-u8-check", "verdict offset", .decode = check, .contract = "rfc3629 no-output", .source = DOC "Elementary-string-checks.html"},
    {"libunistring-u8-to-u16", "verdict output", "utf-16le", .decode = convert, .contract = "rfc3629 no-output", .source = DOC "Elementary-string-conversions.html"},
    {"libunistring-u8-to-u32", "verdict output", "utf-32le", .with = "", .decode = convert, .contract = "rfc3629 no-output", .source = DOC "Elementary-string-conversions.html"},
    {"libunistring-u8-mbtouc", "output", "utf-32le", .decode = next},
    {"libunistring-u8-mbtouc-unsafe", "output", "utf-32le", .with = "", .decode = next},
    {"libunistring-u8-mbtoucr", "verdict offset length output", "utf-32le", .decode = strict, .contract = "rfc3629 no-output incomplete-reported", .source = DOC "Iterating.html"},
    {"libunistring-u8-mblen", "verdict offset", .decode = length},
    {0}};

ADAPTER_CONSTRUCTOR start(void)
{
    static char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", _libunistring_version >> 16, _libunistring_version >> 8 & 255, _libunistring_version & 255);
    library("libunistring", version, NULL, entries);
}
