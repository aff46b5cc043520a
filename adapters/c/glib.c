/* GLib: validation, repair, conversion, GMarkup and GVariant. */
#include "adapter.h"
#include <glib.h>

#define NO_ZERO(in, n) if (memchr(in, 0, n)) { impossible("documented to reject a zero byte"); return; }

static void validate(const entry *e, const uint8_t *in, size_t n)
{
    const char *end = NULL;
    NO_ZERO(in, n)
    gboolean good = e->with ? g_utf8_validate_len((const char *)in, n, &end) : g_utf8_validate((const char *)in, (gssize)n, &end);
    if (good) accepted();
    else rejected(end - (const char *)in, -1);
}

static void get_char(const entry *e, const uint8_t *in, size_t n)
{
    (void)e;
    NO_ZERO(in, n)
    accepted(), write_output("", 0);
    for (size_t at = 0; at < n;) {
        gunichar c = g_utf8_get_char_validated((const char *)in + at, (gssize)(n - at));
        if (c == (gunichar)-1 || c == (gunichar)-2) { rejected((long)at, c == (gunichar)-2 ? 0 : -1); return; }
        write_output(&c, 4);
        at = (size_t)(g_utf8_next_char((const char *)in + at) - (const char *)in);
    }
}

static void make_valid(const entry *e, const uint8_t *in, size_t n)
{
    char *out = g_utf8_make_valid((const char *)in, (gssize)n);
    (void)e, write_output(out, strlen(out)), g_free(out);
}

static void convert(const entry *e, const uint8_t *in, size_t n)
{
    glong read = 0, written = 0;
    GError *error = NULL;
    void *out = e->with ? (void *)g_utf8_to_ucs4((const char *)in, (glong)n, &read, &written, &error)
                        : (void *)g_utf8_to_utf16((const char *)in, (glong)n, &read, &written, &error);
    if (!out) rejected(read, -1);
    else if ((size_t)read < n) rejected(read, 0);
    else accepted(), write_output(out, (size_t)written * (e->with ? 4 : 2));
    g_free(out), g_clear_error(&error);
}

static void normalize(const entry *e, const uint8_t *in, size_t n)
{
    const char *text = e->with ? with_zeros(in, n, 8) : (const char *)in;
    char *out = g_utf8_normalize(text, (gssize)n, G_NORMALIZE_NFC);
    if (out) accepted();
    else rejected(-1, -1);
    g_free(out);
}

static void variant(const entry *e, const uint8_t *in, size_t n)
{
    (void)e;
    NO_ZERO(in, n)
    GVariant *v = g_variant_ref_sink(g_variant_new_from_data(G_VARIANT_TYPE_STRING, with_zero(in, n), n + 1, FALSE, NULL, NULL));
    gsize length;
    if (g_variant_is_normal_form(v)) {
        const char *text = g_variant_get_string(v, &length);
        accepted(), write_output(text, length);
    } else rejected(-1, -1);
    g_variant_unref(v);
}

static void text(GMarkupParseContext *c, const char *t, gsize n, gpointer data, GError **error)
{
    (void)c, (void)data, (void)error, write_output(t, n);
}
static const GMarkupParser parser = {.text = text};
static void said(GError **error)
{
    if ((*error)->domain == G_MARKUP_ERROR && (*error)->code == G_MARKUP_ERROR_BAD_UTF8) rejected(-1, -1);
    else broken((*error)->message);
    g_clear_error(error);
}
struct stream { GMarkupParseContext *c; int ended; };
static void feed(struct stream *s, const void *in, size_t n, int last)
{
    GError *error = NULL;
    if (s->ended) { rejected(-1, -1); return; }
    write_output("", 0);
    if ((n && !g_markup_parse_context_parse(s->c, in, (gssize)n, &error)) || (last && !g_markup_parse_context_end_parse(s->c, &error)))
        said(&error), s->ended = 1;
    else if (last) accepted();
}
static void begin(struct stream *s)
{
    s->c = g_markup_parse_context_new(&parser, 0, NULL, NULL), s->ended = 0;
    g_markup_parse_context_parse(s->c, "<a>", 3, NULL);
}
static void *open_(const entry *e)
{
    struct stream *s = calloc(1, sizeof *s);
    (void)e, begin(s);
    return s;
}
static int unfit(const uint8_t *in, size_t n) { return has_zero(in, n) || has_any(in, n, "<&\r", "markup"); }
static void push(void *s, const uint8_t *in, size_t n) { if (!unfit(in, n)) feed(s, in, n, 0); }
static void finish(void *state)
{
    struct stream *s = state;
    feed(s, "</a>", 4, 1), g_markup_parse_context_free(s->c), begin(s);
}
static void drop(void *state) { g_markup_parse_context_free(((struct stream *)state)->c), free(state); }
static void markup(const entry *e, const uint8_t *in, size_t n)
{
    struct stream s;
    (void)e;
    if (unfit(in, n)) return;
    begin(&s), feed(&s, in, n, 0);
    if (!s.ended) feed(&s, "</a>", 4, 1);
    g_markup_parse_context_free(s.c);
}

#define DOC "https://docs.gtk.org/glib/"
static const entry entries[] = {
    {"glib-validate", "verdict offset", .decode = validate, .contract = "rfc3629 no-output", .source = DOC "func.utf8_validate.html"},
    {"glib-validate-len", "verdict offset", .with = "", .decode = validate, .contract = "rfc3629 no-output", .source = DOC "func.utf8_validate_len.html"},
    {"glib-get-char-validated", "verdict offset length output", "utf-32le", .decode = get_char, .contract = "rfc3629 no-output incomplete-reported", .source = DOC "func.utf8_get_char_validated.html"},
    {"glib-make-valid", "output", .decode = make_valid},
    {"glib-to-utf16", "verdict offset output", "utf-16le", .decode = convert, .contract = "rfc3629 no-output incomplete-reported", .source = DOC "func.utf8_to_utf16.html"},
    {"glib-to-ucs4", "verdict offset output", "utf-32le", .with = "", .decode = convert, .contract = "rfc3629 no-output incomplete-reported", .source = DOC "func.utf8_to_ucs4.html"},
    {"glib-normalize", "verdict", .decode = normalize, .contract = "rfc3629 no-output", .source = DOC "func.utf8_normalize.html"},
    {"glib-normalize-padded", "verdict", .with = "", .decode = normalize, .contract = "rfc3629 no-output", .source = DOC "func.utf8_normalize.html", .environment = "8 zero bytes behind the input"},
    {"glib-variant", "verdict output", .decode = variant, .contract = "rfc3629 no-output", .source = DOC "method.Variant.is_normal_form.html"},
    {"glib-markup", "verdict output stream", .decode = markup, .open = open_, .push = push, .finish = finish, .drop = drop, .contract = "rfc3629 no-output", .source = DOC "error.MarkupError.html"},
    {0}};

ADAPTER_CONSTRUCTOR start(void)
{
    static char version[32];
    g_snprintf(version, sizeof version, "%u.%u.%u", glib_major_version, glib_minor_version, glib_micro_version);
    library("glib", version, NULL, entries);
}
