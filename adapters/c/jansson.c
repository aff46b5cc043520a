/* Jansson: a JSON string, and a string from C. */
#include "adapter.h"
#include <jansson.h>

static void load(const entry *e, const uint8_t *in, size_t n)
{
    (void)e;
    for (size_t i = 0; i < n; i++)
        if (in[i] < 32 || in[i] == '"' || in[i] == '\\') { impossible("a JSON string cannot hold this byte unescaped"); return; }
    char *all = malloc(n + 2);
    all[0] = all[n + 1] = '"', memcpy(all + 1, in, n);
    json_error_t error;
    json_t *j = json_loadb(all, n + 2, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (j) accepted(), write_output(json_string_value(j), json_string_length(j)), json_decref(j);
    else if (json_error_code(&error) == json_error_invalid_utf8) rejected(error.position - 1, -1);
    else broken(error.text);
    free(all);
}

static void make(const entry *e, const uint8_t *in, size_t n)
{
    json_t *j = json_stringn((const char *)in, n);
    (void)e;
    if (j) accepted(), write_output(json_string_value(j), json_string_length(j)), json_decref(j);
    else rejected(-1, -1);
}

#define DOC "https://jansson.readthedocs.io/en/latest/"
static const entry entries[] = {
    {"jansson-loadb", "verdict output", .decode = load, .contract = "rfc3629 no-output", .source = DOC "conformance.html#character-encoding"},
    {"jansson-stringn", "verdict output", .decode = make, .contract = "rfc3629 no-output", .source = DOC "apiref.html#c.json_stringn"},
    {0}};

ADAPTER_CONSTRUCTOR start(void) { library("jansson", jansson_version_str(), NULL, entries); }
