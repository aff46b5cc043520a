/* The C library: multibyte functions in a UTF-8 locale, and iconv. Compiled once for glibc and once for musl. */
#include "adapter.h"
#include <errno.h>
#include <iconv.h>
#include <locale.h>
#include <uchar.h>
#include <wchar.h>
#ifdef MUSL
#define LIBC "musl"
extern const char __libc_version[];
#else
#define LIBC "gnu-libc"
#include <gnu/libc-version.h>
#endif

struct stream { mbstate_t state; int stopped; };

/* Wide characters, one call for each; the state keeps a sequence that is not complete. */
static void wide(struct stream *s, const uint8_t *in, size_t n, int last)
{
    write_output("", 0);
    for (size_t at = 0; at < n && !s->stopped;) {
        wchar_t c;
        size_t length = mbrtowc(&c, (const char *)in + at, n - at, &s->state);
        if (length == (size_t)-1) { rejected(last ? (long)at : -1, -1), s->stopped = 1; return; }
        if (length == (size_t)-2) { if (last) rejected((long)at, 0); return; }
        write_output(&c, 4), at += length ? length : 1;
    }
}
static void *open_(const entry *e) { (void)e; return calloc(1, sizeof(struct stream)); }
static void push(void *s, const uint8_t *in, size_t n) { wide(s, in, n, 0); }
static void finish(void *state)
{
    struct stream *s = state;
    if (s->stopped) rejected(-1, -1);
    else if (!mbsinit(&s->state)) rejected(-1, 0);
    else accepted(), write_output("", 0);
    memset(s, 0, sizeof *s);
}

static void mbrtowc_(const entry *e, const uint8_t *in, size_t n)
{
    struct stream s = {0};
    (void)e, accepted(), wide(&s, in, n, 1);
}

static void mbrtoc(const entry *e, const uint8_t *in, size_t n)
{
    mbstate_t state = {0};
    size_t size = e->with ? 4 : 2;
    accepted(), write_output("", 0);
    for (size_t at = 0; at < n || !mbsinit(&state);) {
        char16_t c16;
        char32_t c32;
        size_t length = e->with ? mbrtoc32(&c32, (const char *)in + at, n - at, &state) : mbrtoc16(&c16, (const char *)in + at, n - at, &state);
        if (length == (size_t)-1) { rejected((long)at, -1); return; }
        if (length == (size_t)-2) { rejected((long)at, 0); return; }
        write_output(e->with ? (void *)&c32 : (void *)&c16, size);
        if (length != (size_t)-3) at += length ? length : 1;
    }
}

static void mbstowcs_(const entry *e, const uint8_t *in, size_t n)
{
    if (has_zero(in, n)) return;
    const char *text = with_zero(in, n);
    wchar_t *out = malloc((n + 1) * 4);
    mbstate_t state = {0};
    size_t length = e->with ? mbsrtowcs(out, &text, n + 1, &state) : mbstowcs(out, text, n + 1);
    if (length == (size_t)-1) rejected(-1, -1);
    else accepted(), write_output(out, length * 4);
    free(out);
}

static void iconv_(const entry *e, const uint8_t *in, size_t n)
{
    static iconv_t c;
    if (!c) c = iconv_open(e->with, "UTF-8");
    char *from = (char *)in, *out = malloc(n * 4 + 16), *to = out;
    size_t left = n, room = n * 4 + 16;
    iconv(c, NULL, NULL, NULL, NULL);
    int ignore = strstr(e->with, "//IGNORE") != NULL;
    size_t code, before;
    /* After some 8 KiB of output, an error that was ignored ends the call; the program iconv then calls again. */
    do {
        before = left;
        code = iconv(c, &from, &left, &to, &room);
    } while (ignore && code == (size_t)-1 && errno == EILSEQ && left && left < before);
    if (ignore && code == (size_t)-1 && (errno == EILSEQ || errno == EINVAL)) code = 0;
    if (code == (size_t)-1 && errno == EILSEQ) rejected(from - (char *)in, -1);
    else if (code == (size_t)-1 && errno == EINVAL) rejected(from - (char *)in, 0);
    else if (code == (size_t)-1) broken(strerror(errno));
    else if (ignore) write_output(out, (size_t)(to - out));
    else accepted(), write_output(out, (size_t)(to - out));
    free(out);
}

#define POSIX "https://pubs.opengroup.org/onlinepubs/9799919799/functions/"
static const entry entries[] = {
    {LIBC "-mbrtowc", "verdict offset length output stream", "utf-32le", .decode = mbrtowc_, .open = open_, .push = push, .finish = finish, .drop = free, .contract = "rfc3629 no-output incomplete-reported", .source = POSIX "mbrtowc.html", .environment = "LC_ALL=C.UTF-8"},
    {LIBC "-mbrtoc16", "verdict offset length output", "utf-16le", .decode = mbrtoc, .contract = "rfc3629 no-output incomplete-reported", .source = POSIX "mbrtoc16.html", .environment = "LC_ALL=C.UTF-8"},
    {LIBC "-mbrtoc32", "verdict offset length output", "utf-32le", .with = "", .decode = mbrtoc, .contract = "rfc3629 no-output incomplete-reported", .source = POSIX "mbrtoc16.html", .environment = "LC_ALL=C.UTF-8"},
    {LIBC "-mbstowcs", "verdict output", "utf-32le", .decode = mbstowcs_, .contract = "rfc3629 no-output", .source = POSIX "mbstowcs.html", .environment = "LC_ALL=C.UTF-8"},
    {LIBC "-mbsrtowcs", "verdict output", "utf-32le", .with = "", .decode = mbstowcs_, .contract = "rfc3629 no-output", .source = POSIX "mbsrtowcs.html", .environment = "LC_ALL=C.UTF-8"},
    {LIBC "-iconv-utf32", "verdict offset length output", "utf-32le", .with = "UTF-32LE", .decode = iconv_, .contract = "rfc3629 no-output incomplete-reported", .source = POSIX "iconv.html"},
    {LIBC "-iconv-utf16", "verdict offset length output", "utf-16le", .with = "UTF-16LE", .decode = iconv_, .contract = "rfc3629 no-output incomplete-reported", .source = POSIX "iconv.html"},
    {LIBC "-iconv-utf8", "verdict offset length output", .with = "UTF-8", .decode = iconv_, .contract = "rfc3629 no-output incomplete-reported", .source = POSIX "iconv.html"},
    {LIBC "-iconv-ucs4", "verdict offset length output", "utf-32le", .with = "UCS-4LE", .decode = iconv_},
#ifndef MUSL
    {LIBC "-iconv-utf32-ignore", "output", "utf-32le", .with = "UTF-32LE//IGNORE", .decode = iconv_, .contract = "rfc3629 drop", .source = "https://sourceware.org/glibc/manual/latest/html_node/iconv-Examples.html"},
#endif
    {0}};

ADAPTER_CONSTRUCTOR start(void)
{
    setlocale(LC_ALL, "C.UTF-8");
#ifdef MUSL
    library("musl", __libc_version, NULL, entries);
#else
    library("glibc", gnu_get_libc_version(), NULL, entries);
#endif
}
