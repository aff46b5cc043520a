/* ICU: converters with each callback, the string functions, and UText. */
#include "adapter.h"
#include <unicode/ucnv.h>
#include <unicode/ustring.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>
#include <stdio.h>

static const struct way { const char *charset; UConverterToUCallback callback; const char *context; } STOP =
    {"UTF-8", UCNV_TO_U_CALLBACK_STOP, NULL}, SUBSTITUTE = {"UTF-8", UCNV_TO_U_CALLBACK_SUBSTITUTE, NULL},
    SKIP = {"UTF-8", UCNV_TO_U_CALLBACK_SKIP, NULL}, ESCAPE = {"UTF-8", UCNV_TO_U_CALLBACK_ESCAPE, "C"},
    CESU_STOP = {"CESU-8", UCNV_TO_U_CALLBACK_STOP, NULL}, CESU_SUBSTITUTE = {"CESU-8", UCNV_TO_U_CALLBACK_SUBSTITUTE, NULL};

struct stream { UConverter *converter; long position; int stopped, stops; };

static void *open_(const entry *e)
{
    const struct way *w = e->with;
    UErrorCode code = U_ZERO_ERROR;
    struct stream *s = calloc(1, sizeof *s);
    s->converter = ucnv_open(w->charset, &code);
    s->stops = w->callback == UCNV_TO_U_CALLBACK_STOP;
    ucnv_setToUCallBack(s->converter, w->callback, w->context, NULL, NULL, &code);
    return s;
}

static void feed(struct stream *s, const uint8_t *in, size_t n, UBool last)
{
    const char *from = (const char *)in, *end = from + n;
    UErrorCode code = s->stopped ? U_ILLEGAL_CHAR_FOUND : U_BUFFER_OVERFLOW_ERROR;
    UChar buffer[4096];
    write_output("", 0);
    while (code == U_BUFFER_OVERFLOW_ERROR) {
        UChar *to = buffer;
        code = U_ZERO_ERROR;
        ucnv_toUnicode(s->converter, &to, buffer + 4096, &from, end, NULL, last, &code);
        write_output(buffer, (char *)to - (char *)buffer);
    }
    s->position += from - (const char *)in;
    if (code == U_INVALID_CHAR_FOUND || code == U_ILLEGAL_CHAR_FOUND || code == U_TRUNCATED_CHAR_FOUND) {
        char bad[32];
        int8_t length = sizeof bad;
        UErrorCode other = U_ZERO_ERROR;
        if (!s->stopped) ucnv_getInvalidChars(s->converter, bad, &length, &other);
        rejected(s->stopped ? -1 : s->position - length, code == U_TRUNCATED_CHAR_FOUND ? 0 : s->stopped ? -1 : length);
        s->stopped = 1;
    } else if (U_FAILURE(code)) broken(u_errorName(code));
}

static void push(void *s, const uint8_t *in, size_t n) { feed(s, in, n, 0); }
static void finish(void *state)
{
    struct stream *s = state;
    if (s->stops) accepted();
    feed(s, (const uint8_t *)"", 0, 1);
    ucnv_reset(s->converter), s->position = 0, s->stopped = 0;
}
static void drop(void *s) { ucnv_close(((struct stream *)s)->converter), free(s); }

static void ucnv(const entry *e, const uint8_t *in, size_t n)
{
    static struct stream *s;
    if (!s) s = open_(e);
    if (s->stops) accepted();
    feed(s, in, n, 1);
    ucnv_reset(s->converter), s->position = 0, s->stopped = 0;
}

static void next_uchar(const entry *e, const uint8_t *in, size_t n)
{
    static UConverter *c;
    UErrorCode code = U_ZERO_ERROR;
    const char *from = (const char *)in, *end = from + n;
    if (!c) c = ucnv_open("UTF-8", &code);
    (void)e, write_output("", 0);
    while (U_SUCCESS(code)) {
        UChar32 u = ucnv_getNextUChar(c, &from, end, &code);
        if (U_SUCCESS(code)) write_output(&u, 4);
    }
    ucnv_reset(c);
    if (code != U_INDEX_OUTOFBOUNDS_ERROR) broken(u_errorName(code));
}

static void from_utf8(const entry *e, const uint8_t *in, size_t n)
{
    UErrorCode code = U_ZERO_ERROR;
    int32_t length = 0;
    UChar *to = malloc((n + 1) * 2);
    if (!e->with) u_strFromUTF8(to, (int32_t)n, &length, (const char *)in, (int32_t)n, &code);
    else if (*(const char *)e->with == 's')
        u_strFromUTF8WithSub(to, (int32_t)n, &length, (const char *)in, (int32_t)n, 0xFFFD, NULL, &code);
    else u_strFromUTF8Lenient(to, (int32_t)n, &length, (const char *)in, (int32_t)n, &code);
    if (code == U_INVALID_CHAR_FOUND) rejected(-1, -1);
    else if (U_FAILURE(code)) broken(u_errorName(code));
    else {
        if (!e->with) accepted();
        write_output(to, (size_t)length * 2);
    }
    free(to);
}

static void utext(const entry *e, const uint8_t *in, size_t n)
{
    UErrorCode code = U_ZERO_ERROR;
    UText *t = utext_openUTF8(NULL, (const char *)in, (int64_t)n, &code);
    (void)e, write_output("", 0);
    for (UChar32 u; (u = utext_next32(t)) != U_SENTINEL;) write_output(&u, 4);
    utext_close(t);
}

static void u8_next(const entry *e, const uint8_t *in, size_t n)
{
    int32_t at = 0, length = (int32_t)n;
    if (!e->with) accepted();
    write_output("", 0);
    while (at < length) {
        int32_t before = at;
        UChar32 u;
        if (e->with) U8_NEXT_OR_FFFD(in, at, length, u);
        else U8_NEXT(in, at, length, u);
        if (u < 0) { rejected(before, at - before); return; }
        write_output(&u, 4);
    }
}

static void u8_prev(const entry *e, const uint8_t *in, size_t n)
{
    UChar32 *to = malloc((n + 1) * 4);
    size_t first = n;
    (void)e;
    for (int32_t at = (int32_t)n; at > 0;) {
        UChar32 u;
        U8_PREV_OR_FFFD(in, 0, at, u);
        to[--first] = u;
    }
    write_output(to + first, (n - first) * 4);
    free(to);
}

/* The handling of illegal UTF-8 follows the Encoding Standard since this version. */
#define ICU_60 "https://icu.unicode.org/download/60"
#define DOC "https://unicode-org.github.io/icu-docs/apidoc/released/icu4c/"
#define UCNV(name, answers_, callback, charset) \
    {name, answers_, "utf-16le", .with = &(const struct way){charset, callback, NULL}, .decode = ucnv, .open = open_, .push = push, .finish = finish, .drop = drop, .encoding = charset}
#define UNITS(charset) \
    UCNV("icu-" charset "-stop", "verdict offset length output stream", UCNV_TO_U_CALLBACK_STOP, charset), \
    UCNV("icu-" charset "-substitute", "output stream", UCNV_TO_U_CALLBACK_SUBSTITUTE, charset)
static const entry entries[] = {
    {"icu-ucnv-stop", "verdict offset length output stream", "utf-16le", .with = &STOP, .decode = ucnv, .open = open_, .push = push, .finish = finish, .drop = drop, .contract = "rfc3629 maximal-subpart no-output", .source = ICU_60},
    {"icu-ucnv-substitute", "output stream", "utf-16le", .with = &SUBSTITUTE, .decode = ucnv, .open = open_, .push = push, .finish = finish, .drop = drop, .contract = "rfc3629 maximal-subpart U+FFFD", .source = ICU_60},
    {"icu-ucnv-skip", "output stream", "utf-16le", .with = &SKIP, .decode = ucnv, .open = open_, .push = push, .finish = finish, .drop = drop, .contract = "rfc3629 maximal-subpart drop", .source = ICU_60},
    {"icu-ucnv-escape-c", "output stream", "utf-16le", .with = &ESCAPE, .decode = ucnv, .open = open_, .push = push, .finish = finish, .drop = drop},
    {"icu-ucnv-cesu8-stop", "verdict offset length output stream", "utf-16le", .with = &CESU_STOP, .decode = ucnv, .open = open_, .push = push, .finish = finish, .drop = drop, .contract = "cesu-8 no-output", .source = "https://unicode-org.github.io/icu/userguide/conversion/"},
    {"icu-ucnv-cesu8-substitute", "output stream", "utf-16le", .with = &CESU_SUBSTITUTE, .decode = ucnv, .open = open_, .push = push, .finish = finish, .drop = drop},
    {"icu-ucnv-getnextuchar", "output", "utf-32le", .decode = next_uchar},
    {"icu-strfromutf8", "verdict output", "utf-16le", .decode = from_utf8, .contract = "rfc3629 no-output", .source = DOC "ustring_8h.html"},
    {"icu-strfromutf8withsub", "output", "utf-16le", .with = "s", .decode = from_utf8, .contract = "rfc3629 maximal-subpart U+FFFD", .source = ICU_60},
    {"icu-strfromutf8lenient", "output", "utf-16le", .with = "l", .decode = from_utf8},
    {"icu-utext-next32", "output", "utf-32le", .decode = utext, .contract = "rfc3629 maximal-subpart U+FFFD", .source = ICU_60},
    {"icu-u8-next", "verdict offset length output", "utf-32le", .decode = u8_next, .contract = "rfc3629 maximal-subpart no-output incomplete-is-error", .source = ICU_60},
    {"icu-u8-next-or-fffd", "output", "utf-32le", .with = "f", .decode = u8_next, .contract = "rfc3629 maximal-subpart U+FFFD", .source = ICU_60},
    {"icu-u8-prev-or-fffd", "output", "utf-32le", .decode = u8_prev},
    UNITS("utf-16"), UNITS("utf-16le"), UNITS("utf-16be"), UNITS("utf-32"), UNITS("utf-32le"), UNITS("utf-32be"),
    {0}};

ADAPTER_CONSTRUCTOR start(void)
{
    static char version[U_MAX_VERSION_STRING_LENGTH];
    UVersionInfo v;
    u_getVersion(v), u_versionToString(v, version);
    library("icu", version, NULL, entries);
}
