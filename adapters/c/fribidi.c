/* FriBidi: its own conversion of UTF-8. */
#include "adapter.h"
#include <fribidi.h>

static void convert(const entry *e, const uint8_t *in, size_t n)
{
    FriBidiChar *out = malloc((n + 1) * 4);
    if (e->with) in = (uint8_t *)with_zeros(in, n, 8);
    write_output(out, (size_t)fribidi_charset_to_unicode(FRIBIDI_CHAR_SET_UTF8, (const char *)in, (FriBidiStrIndex)n, out) * 4);
    free(out);
}

static const entry entries[] = {
    {"fribidi-charset-to-unicode", "output", "utf-32le", .decode = convert},
    {"fribidi-charset-to-unicode-padded", "output", "utf-32le", .with = "", .decode = convert, .environment = "8 zero bytes behind the input"},
    {0}};

ADAPTER_CONSTRUCTOR start(void)
{
    /* "(GNU FriBidi) 1.0.8" and more lines. */
    static char version[32];
    const char *at = strchr(fribidi_version_info, ')');
    at = at ? at + 2 : fribidi_version_info;
    size_t n = strcspn(at, "\n");
    memcpy(version, at, n < 31 ? n : 31), library("fribidi", version, NULL, entries);
}
