// simdjson: the validator of each implementation that runs here, and parsing a string.
#include "guarded.hpp"
#include <simdjson.h>

static void validate(const entry *e, Input in, size_t n)
{
    auto use = (const simdjson::implementation *)e->with;
    if (use->validate_utf8(reinterpret_cast<const char *>(in), n)) accepted();
    else rejected(-1, -1);
}
static void parse(Input in, size_t n)
{
    if (not_for_json(in, n)) return;
    static simdjson::dom::parser parser;
    simdjson::padded_string all('"' + text(in, n) + '"');
    std::string_view out;
    auto code = parser.parse(all).get(out);
    if (code == simdjson::UTF8_ERROR) rejected(-1, -1);
    else if (code) broken(simdjson::error_message(code));
    else accepted(), write(out);
}

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
static entry entries[9];

ADAPTER_CONSTRUCTOR start()
{
    int i = 0;
    static std::string names[8];
    entries[i++] = {"simdjson-dom-parse", "verdict output", 0, "rfc3629 no-output", "https://github.com/simdjson/simdjson/blob/master/doc/basics.md", 0, 0, guarded<parse>, 0, 0, 0, 0};
    for (auto use : simdjson::get_available_implementations())
        if (use->supported_by_runtime_system()) {
            names[i] = "simdjson-validate-" + use->name();
            entries[i] = {names[i].c_str(), "verdict", 0, "rfc3629 no-output", "https://github.com/simdjson/simdjson/blob/master/doc/basics.md#utf-8-validation-alone", 0, use, validate, 0, 0, 0, 0};
            i++;
        }
    library("simdjson", TEXT(SIMDJSON_VERSION), nullptr, entries);
}
