// nlohmann/json: parsing a string, and writing one with each error handler.
#include "guarded.hpp"
#include <nlohmann/json.hpp>

using nlohmann::json;
static void parse(Input in, size_t n)
{
    if (not_for_json(in, n)) return;
    try {
        auto out = json::parse('"' + text(in, n) + '"').get<std::string>();
        accepted(), write(out);
    } catch (const json::parse_error &e) {
        if (strstr(e.what(), "ill-formed UTF-8")) rejected(-1, -1);
        else throw;
    }
}
static void accept_(Input in, size_t n)
{
    if (not_for_json(in, n)) return;
    if (json::accept('"' + text(in, n) + '"')) accepted();
    else rejected(-1, -1);
}
template <json::error_handler_t how> void dump(Input in, size_t n)
{
    if (not_for_json(in, n)) return;
    try {
        auto out = json(text(in, n)).dump(-1, ' ', false, how);
        if (how == json::error_handler_t::strict) accepted();
        write(out.substr(1, out.size() - 2));
    } catch (const json::type_error &e) {
        if (e.id == 316) rejected(-1, -1);
        else throw;
    }
}
static void cbor(Input in, size_t n)
{
    std::string head = n < 24 ? std::string(1, char(0x60 + n)) : std::string{0x7A, char(n >> 24), char(n >> 16), char(n >> 8), char(n)};
    auto out = json::from_cbor(head + text(in, n)).get<std::string>();
    accepted(), write(out);
}

#define DOC "https://json.nlohmann.me/"
static const entry entries[] = {
    {"nlohmann-parse", "verdict output", 0, "rfc3629 no-output", DOC "home/faq/#parse-errors-reading-non-ascii-characters", 0, 0, guarded<parse>},
    {"nlohmann-accept", "verdict", 0, "rfc3629 no-output", DOC "api/basic_json/accept/", 0, 0, guarded<accept_>},
    {"nlohmann-dump-strict", "verdict output", 0, "rfc3629 no-output", DOC "api/basic_json/error_handler_t/", 0, 0, guarded<dump<json::error_handler_t::strict>>},
    {"nlohmann-dump-replace", "output", 0, 0, 0, 0, 0, guarded<dump<json::error_handler_t::replace>>},
    {"nlohmann-dump-ignore", "output", 0, 0, 0, 0, 0, guarded<dump<json::error_handler_t::ignore>>},
    {"nlohmann-from-cbor", "verdict output", 0, 0, 0, 0, 0, guarded<cbor>},
    {}};

ADAPTER_CONSTRUCTOR start()
{
    static std::string version = json::meta()["version"]["string"];
    library("nlohmann", version.c_str(), nullptr, entries);
}
