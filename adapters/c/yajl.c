/* yajl: a JSON string, as a whole or in chunks. */
#include "adapter.h"
#include <stdio.h>
#include <yajl/yajl_parse.h>
#include <yajl/yajl_version.h>

static int text(void *state, const unsigned char *t, size_t n) { (void)state, write_output(t, n); return 1; }
static const yajl_callbacks callbacks = {.yajl_string = text};
struct stream { yajl_handle h; int ended, unchecked; };

static int unfit(const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (in[i] < 32 || in[i] == '"' || in[i] == '\\') return impossible("a JSON string cannot hold this byte unescaped"), 1;
    return 0;
}
static void feed(struct stream *s, const void *in, size_t n, int last)
{
    if (s->ended) { rejected(-1, -1); return; }
    yajl_status code = yajl_parse(s->h, in, n);
    if (code == yajl_status_ok && last) code = yajl_complete_parse(s->h);
    if (code == yajl_status_ok) { if (last) accepted(); return; }
    unsigned char *why = yajl_get_error(s->h, 0, in, n);
    s->ended = 1;
    if (strstr((char *)why, "invalid bytes in UTF8")) rejected(-1, -1);
    else broken((char *)why);
    yajl_free_error(s->h, why);
}
static void begin(struct stream *s)
{
    if (s->h) yajl_free(s->h);
    s->h = yajl_alloc(&callbacks, NULL, NULL), s->ended = 0;
    yajl_config(s->h, yajl_dont_validate_strings, s->unchecked), yajl_parse(s->h, (const unsigned char *)"\"", 1);
}
static void *open_(const entry *e)
{
    struct stream *s = calloc(1, sizeof *s);
    s->unchecked = e->with != NULL, begin(s);
    return s;
}
static void push(void *s, const uint8_t *in, size_t n) { if (!unfit(in, n)) feed(s, in, n, 0); }
static void finish(void *s) { feed(s, "\"", 1, 1), begin(s); }
static void drop(void *s) { yajl_free(((struct stream *)s)->h), free(s); }
static void decode(const entry *e, const uint8_t *in, size_t n)
{
    static struct stream *s;
    if (unfit(in, n)) return;
    if (!s) s = open_(e);
    feed(s, in, n, 0), feed(s, "\"", 1, 1), begin(s);
}

static const entry entries[] = {
    {"yajl-parse", "verdict output stream", .decode = decode, .open = open_, .push = push, .finish = finish, .drop = drop, .contract = "rfc3629 no-output", .source = "https://lloyd.github.io/yajl/yajl-2.1.0/yajl__parse_8h.html"},
    {"yajl-parse-unchecked", "verdict output stream", .with = "", .decode = decode, .open = open_, .push = push, .finish = finish, .drop = drop},
    {0}};

ADAPTER_CONSTRUCTOR start(void)
{
    static char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", yajl_version() / 10000, yajl_version() / 100 % 100, yajl_version() % 100);
    library("yajl", version, NULL, entries);
}
