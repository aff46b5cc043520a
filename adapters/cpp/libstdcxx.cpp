// libstdc++: the conversion facets, the string converter of C++11, and paths.
#include "guarded.hpp"
#include <codecvt>
#include <filesystem>
#include <locale>
#include <stdexcept>

// The facets that the standard keeps public, and those with a protected destructor.
template <class F> struct Public : F { using F::F; };
template <class F, class To> struct Codecvt {
    static void decode(Input in, size_t n)
    {
        static const Public<F> f;
        std::mbstate_t state{};
        std::basic_string<To> out(n + 2, To());
        auto from = reinterpret_cast<const typename F::extern_type *>(in), next = from;
        To *to;
        auto code = f.in(state, from, from + n, next, out.data(), out.data() + out.size(), to);
        if (code == f.error) rejected(next - from, -1);
        else if (code == f.partial || next != from + n) rejected(next - from, 0);
        else out.resize(to - out.data()), accepted(), write(out);
    }
};
template <class F, class To> void convert(Input in, size_t n)
{
    static std::wstring_convert<F, To> c;
    try {
        auto out = c.from_bytes(reinterpret_cast<const char *>(in), reinterpret_cast<const char *>(in) + n);
        accepted(), write(out);
    } catch (const std::range_error &) {
        rejected(long(c.converted()), -1);
    }
}
static void path(Input in, size_t n)
{
    try {
        auto out = std::filesystem::path(std::u8string(reinterpret_cast<const char8_t *>(in), n)).u16string();
        accepted(), write(out);
    } catch (const std::filesystem::filesystem_error &) {
        rejected(-1, -1);
    }
}

#define DOC "https://timsong-cpp.github.io/cppwp/n4861/"
static const entry entries[] = {
    {"libstdcxx-codecvt-char32", "verdict offset length output", "utf-32le", "rfc3629 no-output incomplete-reported", DOC "locale.codecvt", 0, 0, guarded<Codecvt<std::codecvt<char32_t, char8_t, std::mbstate_t>, char32_t>::decode>},
    {"libstdcxx-codecvt-char16", "verdict offset length output", "utf-16le", "rfc3629 no-output incomplete-reported", DOC "locale.codecvt", 0, 0, guarded<Codecvt<std::codecvt<char16_t, char8_t, std::mbstate_t>, char16_t>::decode>},
    {"libstdcxx-codecvt-utf8", "verdict offset length output", "utf-32le", "rfc3629 no-output incomplete-reported", DOC "depr.locale.stdcvt", 0, 0, guarded<Codecvt<std::codecvt_utf8<char32_t>, char32_t>::decode>},
    {"libstdcxx-codecvt-utf8-consume-header", "verdict offset length output", "utf-32le", "rfc3629 no-output incomplete-reported bom-stripped", DOC "depr.locale.stdcvt", 0, 0, guarded<Codecvt<std::codecvt_utf8<char32_t, 0x10FFFF, std::consume_header>, char32_t>::decode>},
    {"libstdcxx-codecvt-utf8-utf16", "verdict offset length output", "utf-16le", "rfc3629 no-output incomplete-reported", DOC "depr.locale.stdcvt", 0, 0, guarded<Codecvt<std::codecvt_utf8_utf16<char16_t>, char16_t>::decode>},
    {"libstdcxx-wstring-convert", "verdict offset output", "utf-32le", "rfc3629 no-output", DOC "depr.conversions.string", 0, 0, guarded<convert<std::codecvt_utf8<char32_t>, char32_t>>},
    {"libstdcxx-wstring-convert-utf16", "verdict offset output", "utf-16le", "rfc3629 no-output", DOC "depr.conversions.string", 0, 0, guarded<convert<std::codecvt_utf8_utf16<char16_t>, char16_t>>},
    {"libstdcxx-path-u16string", "verdict output", "utf-16le", 0, 0, 0, 0, guarded<path>},
    {}};

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
ADAPTER_CONSTRUCTOR start() { library("libstdcxx", TEXT(__GNUC__) "." TEXT(__GNUC_MINOR__) "." TEXT(__GNUC_PATCHLEVEL__), nullptr, entries); }
