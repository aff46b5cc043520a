/* utf8proc: code point by code point, and as a whole. */
#include "adapter.h"
#include <utf8proc.h>

static void iterate(const entry *e, const uint8_t *in, size_t n)
{
    (void)e, accepted(), write_output("", 0);
    for (size_t at = 0; at < n;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t length = utf8proc_iterate(in + at, (utf8proc_ssize_t)(n - at), &c);
        if (length < 0) { rejected((long)at, -1); return; }
        write_output(&c, 4), at += (size_t)length;
    }
}

static void map(const entry *e, const uint8_t *in, size_t n)
{
    utf8proc_uint8_t *out;
    utf8proc_ssize_t length = utf8proc_map(in, (utf8proc_ssize_t)n, &out, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    (void)e;
    if (length >= 0) accepted(), free(out);
    else if (length == UTF8PROC_ERROR_INVALIDUTF8) rejected(-1, -1);
    else broken(utf8proc_errmsg(length));
}

#define DOC "https://juliastrings.github.io/utf8proc/doc/utf8proc_8h.html"
static const entry entries[] = {
    {"utf8proc-iterate", "verdict offset output", "utf-32le", .decode = iterate, .contract = "rfc3629 no-output", .source = DOC},
    {"utf8proc-map", "verdict", .decode = map, .contract = "rfc3629 no-output", .source = DOC},
    {0}};

ADAPTER_CONSTRUCTOR start(void) { library("utf8proc", utf8proc_version(), NULL, entries); }
