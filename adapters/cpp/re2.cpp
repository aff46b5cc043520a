// RE2: what matches a character, and the pattern itself.
#include "guarded.hpp"
#include <re2/re2.h>

static void full(Input in, size_t n)
{
    static const RE2 any("(?s).*");
    if (RE2::FullMatch({reinterpret_cast<const char *>(in), n}, any)) accepted();
    else rejected(-1, -1);
}
static void find(Input in, size_t n)
{
    static const RE2 any("(?s)(.)");
    re2::StringPiece rest(reinterpret_cast<const char *>(in), n), one;
    write_output("", 0);
    while (RE2::FindAndConsume(&rest, any, &one)) write(one);
}
static void compile(Input in, size_t n)
{
    RE2::Options options;
    options.set_literal(true), options.set_log_errors(false);
    RE2 r({reinterpret_cast<const char *>(in), n}, options);
    if (r.ok()) accepted();
    else if (r.error_code() == RE2::ErrorBadUTF8) rejected(-1, -1);
    else broken(r.error().c_str());
}

static const entry entries[] = {
    {"re2-fullmatch", "verdict", 0, 0, 0, 0, 0, guarded<full>},
    {"re2-findandconsume", "output", 0, 0, 0, 0, 0, guarded<find>},
    {"re2-compile-literal", "verdict", 0, "rfc3629 no-output", "https://github.com/google/re2/blob/main/re2/re2.h", 0, 0, guarded<compile>},
    {}};

ADAPTER_CONSTRUCTOR start() { library("re2", RE2_PACKAGE, nullptr, entries); }
