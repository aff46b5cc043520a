/* json-c: a JSON string, with and without validation, as a whole or in chunks. */
#include "adapter.h"
#include <json-c/json.h>

struct stream { struct json_tokener *t; int options, ended; };

static int unfit(const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (in[i] < 32 || in[i] == '"' || in[i] == '\\') return impossible("a JSON string cannot hold this byte unescaped"), 1;
    return 0;
}

static struct json_object *feed(struct stream *s, const void *in, size_t n)
{
    if (s->ended || !n) return NULL;
    struct json_object *j = json_tokener_parse_ex(s->t, in, (int)n);
    enum json_tokener_error code = json_tokener_get_error(s->t);
    if (code == json_tokener_success || code == json_tokener_continue) return j;
    s->ended = 1;
    if (code == json_tokener_error_parse_utf8_string) rejected(-1, -1);
    else broken(json_tokener_error_desc(code));
    return NULL;
}

static void begin(struct stream *s) { json_tokener_reset(s->t), s->ended = 0, feed(s, "\"", 1); }
static void *open_(const entry *e)
{
    struct stream *s = calloc(1, sizeof *s);
    s->t = json_tokener_new(), json_tokener_set_flags(s->t, JSON_TOKENER_STRICT | (e->with ? JSON_TOKENER_VALIDATE_UTF8 : 0));
    begin(s);
    return s;
}
static void end(struct stream *s)
{
    struct json_object *j = feed(s, "\"", 1);
    if (j) accepted(), write_output(json_object_get_string(j), (size_t)json_object_get_string_len(j)), json_object_put(j);
    else if (s->ended) rejected(-1, -1);
    begin(s);
}
static void push(void *s, const uint8_t *in, size_t n) { if (!unfit(in, n)) feed(s, in, n); }
static void finish(void *s) { end(s); }
static void drop(void *s) { json_tokener_free(((struct stream *)s)->t), free(s); }

static void decode(const entry *e, const uint8_t *in, size_t n)
{
    static struct stream *s;
    if (unfit(in, n)) return;
    if (!s) s = open_(e);
    feed(s, in, n), end(s);
}

static const entry entries[] = {
    {"json-c-validate-utf8", "verdict output stream", .with = "", .decode = decode, .open = open_, .push = push, .finish = finish, .drop = drop, .contract = "rfc3629 no-output", .source = "https://json-c.github.io/json-c/json-c-0.16/doc/html/json__tokener_8h.html"},
    {"json-c-tokener", "verdict output stream", .decode = decode, .open = open_, .push = push, .finish = finish, .drop = drop},
    {0}};

ADAPTER_CONSTRUCTOR start(void) { library("json-c", json_c_version(), NULL, entries); }
