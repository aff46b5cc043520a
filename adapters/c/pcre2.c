/* PCRE2: the check of a subject and of a pattern, and matching in spite of ill-formed bytes. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "adapter.h"
#include <pcre2.h>

static int is_utf_error(int code) { return code <= PCRE2_ERROR_UTF8_ERR1 && code >= PCRE2_ERROR_UTF8_ERR21; }
static void failed(int code, long offset)
{
    PCRE2_UCHAR why[200];
    if (is_utf_error(code)) { rejected(offset, -1); return; }
    pcre2_get_error_message(code, why, sizeof why), broken((const char *)why);
}

static void match(const entry *e, const uint8_t *in, size_t n)
{
    static pcre2_code *any;
    static pcre2_match_data *data;
    int code;
    size_t at;
    uint32_t options = PCRE2_UTF | PCRE2_DOTALL | (e->with ? PCRE2_MATCH_INVALID_UTF : 0);
    if (!any) {
        any = pcre2_compile((PCRE2_SPTR)(e->with ? "." : ""), PCRE2_ZERO_TERMINATED, options, &code, &at, NULL);
        data = pcre2_match_data_create_from_pattern(any, NULL);
        if (e->with && *(const char *)e->with == 'j') pcre2_jit_compile(any, PCRE2_JIT_COMPLETE);
    }
    if (!e->with) {
        code = pcre2_match(any, in, n, 0, 0, data, NULL);
        if (code > 0) accepted();
        else failed(code, (long)pcre2_get_startchar(data));
        return;
    }
    write_output("", 0);
    for (at = 0; at <= n; at = pcre2_get_ovector_pointer(data)[1]) {
        code = pcre2_match(any, in, n, at, 0, data, NULL);
        if (code == PCRE2_ERROR_NOMATCH) return;
        if (code < 0) { failed(code, -1); return; }
        size_t *found = pcre2_get_ovector_pointer(data);
        write_output(in + found[0], found[1] - found[0]);
    }
}

static void compile(const entry *e, const uint8_t *in, size_t n)
{
    int code;
    size_t at;
    pcre2_code *c = pcre2_compile(in, n, PCRE2_UTF | PCRE2_LITERAL, &code, &at, NULL);
    (void)e;
    if (c) accepted(), pcre2_code_free(c);
    else failed(code, (long)at);
}

static void convert(const entry *e, const uint8_t *in, size_t n)
{
    PCRE2_UCHAR *out = NULL;
    size_t length = 0;
    int code = pcre2_pattern_convert(in, n, PCRE2_CONVERT_GLOB | PCRE2_CONVERT_UTF, &out, &length, NULL);
    (void)e;
    if (!code) accepted();
    else failed(code, -1);
    pcre2_converted_pattern_free(out);
}

#define DOC "https://www.pcre.org/current/doc/html/pcre2unicode.html"
static const entry entries[] = {
    {"pcre2-match", "verdict offset", .decode = match, .contract = "rfc3629 no-output", .source = DOC},
    {"pcre2-compile-literal", "verdict offset", .decode = compile, .contract = "rfc3629 no-output", .source = DOC},
    {"pcre2-pattern-convert", "verdict", .decode = convert, .contract = "rfc3629 no-output", .source = DOC},
    {"pcre2-match-invalid", "output", .with = "i", .decode = match, .contract = "rfc3629 drop", .source = DOC},
    {"pcre2-jit-match-invalid", "output", .with = "j", .decode = match, .contract = "rfc3629 drop", .source = DOC},
    {0}};

ADAPTER_CONSTRUCTOR start(void)
{
    static char version[64];
    pcre2_config(PCRE2_CONFIG_VERSION, version), version[strcspn(version, " ")] = 0;
    library("pcre2", version, NULL, entries);
}
