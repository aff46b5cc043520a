/* FLTK: character by character, and to UTF-16. */
#include "adapter.h"
#include <FL/fl_utf8.h>
#include <stdio.h>

/* Of its C++ part: the only function that says the version. */
extern int version_of_fltk(void) __asm__("_ZN2Fl11api_versionEv");

static void decode(const entry *e, const uint8_t *in, size_t n)
{
    const char *at = (const char *)in, *end = at + n;
    (void)e, write_output("", 0);
    while (at < end) {
        int length;
        unsigned c = fl_utf8decode(at, end, &length);
        write_output(&c, 4), at += length;
    }
}

static void utf16(const entry *e, const uint8_t *in, size_t n)
{
    unsigned short *out = malloc((n + 1) * 2);
    (void)e, write_output(out, 2 * (size_t)fl_utf8toUtf16((const char *)in, (unsigned)n, out, (unsigned)n + 1));
    free(out);
}

#define DOC "https://www.fltk.org/doc-1.3/group__fl__unicode.html"
static const entry entries[] = {
    {"fltk-utf8decode", "output", "utf-32le", .decode = decode, .contract = "rfc3629-with-surrogates byte windows-1252", .source = DOC},
    {"fltk-utf8toutf16", "output", "utf-16le", .decode = utf16},
    {0}};

ADAPTER_CONSTRUCTOR start(void)
{
    static char version[32];
    int v = version_of_fltk();
    snprintf(version, sizeof version, "%d.%d.%d", v / 10000, v / 100 % 100, v % 100);
    library("fltk", version, NULL, entries);
}
