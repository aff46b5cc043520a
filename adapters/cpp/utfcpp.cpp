// UTF8-CPP: checked functions, unchecked ones left out.
#include "guarded.hpp"
#include <iterator>
#include <utf8.h>

static void is_valid(Input in, size_t n)
{
    if (utf8::is_valid(in, in + n)) accepted();
    else rejected(-1, -1);
}
static void find_invalid(Input in, size_t n)
{
    auto at = utf8::find_invalid(in, in + n);
    if (at == in + n) accepted();
    else rejected(at - in, -1);
}
static void replace_invalid(Input in, size_t n)
{
    std::string out;
    utf8::replace_invalid(in, in + n, std::back_inserter(out)), write(out);
}
template <class Text> void convert(Input in, size_t n)
{
    Text out;
    try {
        if constexpr (sizeof out[0] == 2) utf8::utf8to16(in, in + n, std::back_inserter(out));
        else utf8::utf8to32(in, in + n, std::back_inserter(out));
        accepted(), write(out);
    } catch (const utf8::exception &) {
        rejected(-1, -1);
    }
}
static void next(Input in, size_t n)
{
    std::u32string out;
    Input at = in;
    try {
        while (at < in + n) out += char32_t(utf8::next(at, in + n));
        accepted(), write(out);
    } catch (const utf8::not_enough_room &) {
        rejected(at - in, 0);
    } catch (const utf8::exception &) {
        rejected(at - in, -1);
    }
}

#define DOC "https://github.com/nemtrif/utfcpp#reference"
static const entry entries[] = {
    {"utfcpp-is-valid", "verdict", 0, "rfc3629 no-output", DOC, 0, 0, guarded<is_valid>},
    {"utfcpp-find-invalid", "verdict offset", 0, "rfc3629 no-output", DOC, 0, 0, guarded<find_invalid>},
    {"utfcpp-replace-invalid", "output", 0, 0, 0, 0, 0, guarded<replace_invalid>},
    {"utfcpp-utf8to16", "verdict output", "utf-16le", "rfc3629 no-output", DOC, 0, 0, guarded<convert<std::u16string>>},
    {"utfcpp-utf8to32", "verdict output", "utf-32le", "rfc3629 no-output", DOC, 0, 0, guarded<convert<std::u32string>>},
    {"utfcpp-next", "verdict offset output", "utf-32le", "rfc3629 no-output incomplete-reported", DOC, 0, 0, guarded<next>},
    {}};

ADAPTER_CONSTRUCTOR start() { library("utfcpp", UTFCPP_VERSION, nullptr, entries); }
