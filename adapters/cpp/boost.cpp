// Boost beside Locale and Nowide: the checker of Beast, the iterator of Regex, and the JSON reader of PropertyTree.
#include "guarded.hpp"
#include <boost/beast/websocket/detail/utf8_checker.hpp>
#include <boost/locale/utf.hpp>
#include <boost/property_tree/json_parser.hpp>
#include <boost/regex/pending/unicode_iterator.hpp>
#include <boost/version.hpp>
#include <sstream>

using boost::beast::websocket::detail::utf8_checker;
struct Stream { utf8_checker checker; bool bad = false; };
static void *open_(const entry *) { return new Stream; }
static void push(void *state, Input in, size_t n)
{
    auto s = static_cast<Stream *>(state);
    if (!s->bad && !s->checker.write(in, n)) s->bad = true;
    if (s->bad) rejected(-1, -1);
}
static void finish(void *state)
{
    auto s = static_cast<Stream *>(state);
    if (!s->bad && s->checker.finish()) accepted();
    else rejected(-1, -1);
    s->checker.reset(), s->bad = false;
}
static void drop(void *s) { delete static_cast<Stream *>(s); }
static void beast(Input in, size_t n)
{
    if (boost::beast::websocket::detail::check_utf8(reinterpret_cast<const char *>(in), n)) accepted();
    else rejected(-1, -1);
}

static void regex(Input in, size_t n)
{
    using Iterator = boost::u8_to_u32_iterator<Input, char32_t>;
    std::u32string out;
    try {
        for (Iterator i(in, in, in + n), end(in + n, in, in + n); i != end; ++i) out += *i;
        accepted(), write(out);
    } catch (const std::out_of_range &) {
        rejected(-1, -1);
    }
}

static void traits(Input in, size_t n)
{
    using namespace boost::locale::utf;
    std::u32string out;
    for (Input at = in; at < in + n;) {
        Input before = at;
        auto c = utf_traits<uint8_t>::decode(at, in + n);
        if (c == illegal || c == incomplete) return rejected(before - in, c == incomplete ? 0 : -1);
        out += char32_t(c);
    }
    accepted(), write(out);
}

static void tree(Input in, size_t n)
{
    if (not_for_json(in, n)) return;
    boost::property_tree::ptree t;
    std::istringstream all('"' + text(in, n) + '"');
    try {
        boost::property_tree::read_json(all, t);
        accepted(), write(t.data());
    } catch (const boost::property_tree::json_parser_error &e) {
        if (strstr(e.what(), "invalid code sequence")) rejected(-1, -1);
        else throw;
    }
}

#define DOC "https://www.boost.org/doc/libs/1_74_0/libs/"
static const entry entries[] = {
    {"boost-beast-check-utf8", "verdict stream", 0, "rfc3629 no-output", "https://www.rfc-editor.org/rfc/rfc6455#section-8.1", 0, 0, guarded<beast>, open_, push, finish, drop},
    {"boost-regex-u8-to-u32", "verdict output", "utf-32le", 0, 0, 0, 0, guarded<regex>},
    {"boost-locale-utf-traits", "verdict offset length output", "utf-32le", "rfc3629 no-output incomplete-reported", DOC "locale/doc/html/structboost_1_1locale_1_1utf_1_1utf__traits.html", 0, 0, guarded<traits>},
    {"boost-property-tree-json", "verdict output", 0, 0, 0, 0, 0, guarded<tree>},
    {}};

ADAPTER_CONSTRUCTOR start()
{
    static std::string version = std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000) + "." + std::to_string(BOOST_VERSION % 100);
    library("boost", version.c_str(), nullptr, entries);
}
