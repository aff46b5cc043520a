// A decoder in C++ as a plugin of utfuzz. It decodes input in chunks to UTF-32, with U+FFFD for each maximal subpart.
//
//     c++ -O2 -fPIC -shared example.cpp -o libexample.so
//     utfuzz check --plugin ./libexample.so
//
// The entry point example-cpp-surrogates has a deliberate bug: it accepts surrogates, which its contract forbids.
#include "utfuzz_decoder.h"
#include <new>

struct Decoder {
    bool surrogates;
    uint32_t need = 0, value = 0; // how many bytes the character lacks, and its value so far
    uint8_t low = 0, high = 0;    // between these is the next byte that continues it
    ptrdiff_t at = 0, start = 0, error = -1;

    explicit Decoder(bool surrogates) : surrogates(surrogates) {}
    template <class Put> void reject(Put put) { need = 0, error = error < 0 ? start : error, put(0xFFFD); }
    template <class Put> void byte(uint8_t b, Put put) {
        if (need && (b < low || b > high)) reject(put);
        if (need) {
            value = value << 6 | (b & 0x3F), need--, low = 0x80, high = 0xBF;
        } else {
            start = at;
            if ((b >= 0x80 && b < 0xC2) || b > 0xF4) return reject(put);
            need = b < 0x80 ? 0 : b < 0xE0 ? 1 : b < 0xF0 ? 2 : 3, value = need ? b & (0x3F >> need) : b;
            low = b == 0xE0 ? 0xA0 : b == 0xF0 ? 0x90 : 0x80;
            high = b == 0xED && !surrogates ? 0x9F : b == 0xF4 ? 0x8F : 0xBF;
        }
        if (!need) put(value);
    }
};

static auto to_utf32le(utfuzz_write write, void *to) {
    return [=](uint32_t c) { uint8_t le[] = {uint8_t(c), uint8_t(c >> 8), uint8_t(c >> 16), 0}; write(to, le, 4); };
}
static void push(void *stream, const uint8_t *b, size_t n, utfuzz_answer *answer, utfuzz_write write, void *to) {
    auto &decoder = *static_cast<Decoder *>(stream);
    for (size_t i = 0; i < n; i++, decoder.at++) decoder.byte(b[i], to_utf32le(write, to));
    answer->has_output = 1;
}
static void finish(void *stream, utfuzz_answer *answer, utfuzz_write write, void *to) {
    auto &decoder = *static_cast<Decoder *>(stream);
    if (decoder.need) decoder.reject(to_utf32le(write, to));
    *answer = {decoder.error < 0 ? UTFUZZ_WELL_FORMED : UTFUZZ_ILL_FORMED, 1, decoder.error, -1};
    decoder = Decoder(decoder.surrogates);
}
static void decode(void *context, const uint8_t *b, size_t n, utfuzz_answer *answer, utfuzz_write write, void *to) {
    Decoder decoder(context);
    push(&decoder, b, n, answer, write, to), finish(&decoder, answer, write, to);
}
static void *open(void *context) { return new (std::nothrow) Decoder(context); }
static void drop(void *stream) { delete static_cast<Decoder *>(stream); }

#define ENTRY(name, context) {name, "example", "1.0", nullptr, "verdict offset output stream", "utf-32le", \
    "rfc3629 maximal-subpart U+FFFD bom-kept", nullptr, nullptr, context, decode, open, push, finish, drop}
static bool bug = true;
static const utfuzz_entry entries[] = {ENTRY("example-cpp", nullptr), ENTRY("example-cpp-surrogates", &bug)};
static const utfuzz_plugin plugin = {UTFUZZ_PLUGIN_VERSION, 2, entries};
const utfuzz_plugin *utfuzz_plugin_v1() { return &plugin; }
