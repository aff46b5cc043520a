// ICU: the classes of its C++ interface.
#include "guarded.hpp"
#include <unicode/bytestream.h>
#include <unicode/unistr.h>

static void from_utf8(Input in, size_t n)
{
    auto out = icu::UnicodeString::fromUTF8({reinterpret_cast<const char *>(in), int32_t(n)});
    write_output(out.getBuffer(), size_t(out.length()) * 2);
}

static const entry entries[] = {
    {"icu-unicodestring-fromutf8", "output", "utf-16le", "rfc3629 maximal-subpart U+FFFD", "https://icu.unicode.org/download/60", 0, 0, guarded<from_utf8>},
    {}};

ADAPTER_CONSTRUCTOR start()
{
    static char version[U_MAX_VERSION_STRING_LENGTH];
    UVersionInfo v;
    u_getVersion(v), u_versionToString(v, version), library("icu", version, nullptr, entries);
}
