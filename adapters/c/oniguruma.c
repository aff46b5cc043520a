/* Oniguruma: validity of a string, by itself and as a subject. */
#include "adapter.h"
#include <oniguruma.h>

static void valid(const entry *e, const uint8_t *in, size_t n)
{
    (void)e;
    if (ONIGENC_IS_VALID_MBC_STRING(ONIG_ENCODING_UTF8, in, in + n)) accepted();
    else rejected(-1, -1);
}

static void search(const entry *e, const uint8_t *in, size_t n)
{
    static regex_t *r;
    OnigErrorInfo info;
    (void)e;
    if (!r && onig_new(&r, (OnigUChar *)"", (OnigUChar *)"", ONIG_OPTION_NONE, ONIG_ENCODING_UTF8, ONIG_SYNTAX_RUBY, &info)) { broken("onig_new"); return; }
    int code = onig_search(r, in, in + n, in, in + n, NULL, ONIG_OPTION_CHECK_VALIDITY_OF_STRING);
    if (code >= 0) accepted();
    else if (code == ONIGERR_INVALID_WIDE_CHAR_VALUE) rejected(-1, -1);
    else broken("onig_search");
}

static void compile(const entry *e, const uint8_t *in, size_t n)
{
    static OnigSyntaxType literal;
    regex_t *r = NULL;
    OnigErrorInfo info;
    (void)e, onig_copy_syntax(&literal, ONIG_SYNTAX_ASIS);
    int code = onig_new(&r, in, in + n, ONIG_OPTION_NONE, ONIG_ENCODING_UTF8, &literal, &info);
    if (code == ONIG_NORMAL) accepted(), onig_free(r);
    else rejected(-1, -1);
}

static const entry entries[] = {
    {"oniguruma-is-valid-mbc-string", "verdict", .decode = valid},
    {"oniguruma-search-check-validity", "verdict", .decode = search},
    {"oniguruma-compile-asis", "verdict", .decode = compile},
    {0}};

ADAPTER_CONSTRUCTOR start(void)
{
    OnigEncoding use[] = {ONIG_ENCODING_UTF8};
    onig_initialize(use, 1), library("oniguruma", onig_version(), NULL, entries);
}
