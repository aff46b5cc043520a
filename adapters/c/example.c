/* A decoder in C as a plugin of utfuzz. It writes U+FFFD for each maximal subpart of an ill-formed sequence.

       cc -std=c11 -O2 -fPIC -shared example.c -o libexample.so
       utfuzz check --plugin ./libexample.so

   The entry point example-c-surrogates has a deliberate bug: it accepts surrogates, which its contract forbids. */
#include "utfuzz_decoder.h"

enum part { WHOLE, BROKEN, CUT_OFF };

/* What the first part is: a whole character, an ill-formed sequence, or one that the end of the input cuts off. */
static enum part first(const uint8_t *bytes, size_t length, int surrogates, size_t *part)
{
    uint8_t lead = bytes[0], low = 0x80, high = 0xBF;
    size_t need = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0, have = 1;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xED && !surrogates) high = 0x9F;
    if (lead == 0xF4) high = 0x8F;
    while (have < need && have < length && bytes[have] >= low && bytes[have] <= high) {
        have++;
        low = 0x80, high = 0xBF;
    }
    *part = have;
    return have == need ? WHOLE : have < need && have == length ? CUT_OFF : BROKEN;
}

static void decode(void *context, const uint8_t *bytes, size_t length, utfuzz_answer *answer, utfuzz_write write, void *to)
{
    size_t part;
    answer->verdict = UTFUZZ_WELL_FORMED, answer->has_output = 1;
    for (size_t at = 0; at < length; at += part) {
        enum part what = first(bytes + at, length - at, context != NULL, &part);
        if (what == WHOLE) {
            write(to, bytes + at, part);
            continue;
        }
        write(to, "\xEF\xBF\xBD", 3);
        if (answer->verdict == UTFUZZ_WELL_FORMED) {
            answer->verdict = UTFUZZ_ILL_FORMED;
            answer->offset = (ptrdiff_t)at, answer->length = what == CUT_OFF ? 0 : (ptrdiff_t)part;
        }
    }
}

#define COMMON .package = "example", .version = "1.0", .answers = "verdict offset length output", \
    .contract = "rfc3629 maximal-subpart U+FFFD bom-kept incomplete-reported", .decode = decode

const utfuzz_plugin *utfuzz_plugin_v1(void)
{
    static char surrogates;
    static const utfuzz_entry entries[] = {
        {.name = "example-c", COMMON},
        {.name = "example-c-surrogates", .context = &surrogates, COMMON},
    };
    static const utfuzz_plugin plugin = {UTFUZZ_PLUGIN_VERSION, 2, entries};
    return &plugin;
}
