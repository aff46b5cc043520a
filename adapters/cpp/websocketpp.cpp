// WebSocket++: the check of text messages, which keeps its state from chunk to chunk.
#include "guarded.hpp"
#include <websocketpp/utf8_validator.hpp>
#include <websocketpp/version.hpp>

using websocketpp::utf8_validator::validator;
struct Stream { validator check; bool bad = false; };
static void *open_(const entry *) { return new Stream; }
static void push(void *state, Input in, size_t n)
{
    auto s = static_cast<Stream *>(state);
    if (!s->bad && !s->check.decode(in, in + n)) s->bad = true;
    if (s->bad) rejected(-1, -1);
}
static void finish(void *state)
{
    auto s = static_cast<Stream *>(state);
    if (!s->bad && s->check.complete()) accepted();
    else rejected(-1, -1);
    s->check.reset(), s->bad = false;
}
static void drop(void *s) { delete static_cast<Stream *>(s); }
static void validate(Input in, size_t n)
{
    if (websocketpp::utf8_validator::validate(text(in, n))) accepted();
    else rejected(-1, -1);
}

static const entry entries[] = {
    {"websocketpp-validate", "verdict stream", 0, "rfc3629 no-output", "https://www.rfc-editor.org/rfc/rfc6455#section-8.1", 0, 0, guarded<validate>, open_, push, finish, drop},
    {}};

ADAPTER_CONSTRUCTOR start()
{
    static std::string version = std::to_string(websocketpp::major_version) + "." + std::to_string(websocketpp::minor_version) + "." + std::to_string(websocketpp::patch_version);
    library("websocketpp", version.c_str(), "hoehrmann-dfa", entries);
}
