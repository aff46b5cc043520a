// JsonCpp: reading a string.
#include "guarded.hpp"
#include <json/json.h>
#include <memory>

static void read(Input in, size_t n)
{
    if (not_for_json(in, n)) return;
    static const std::unique_ptr<Json::CharReader> reader(Json::CharReaderBuilder().newCharReader());
    auto all = '"' + text(in, n) + '"';
    Json::Value value;
    std::string why;
    if (reader->parse(all.data(), all.data() + all.size(), &value, &why)) accepted(), write(value.asString());
    else broken(why.c_str());
}

static const entry entries[] = {{"jsoncpp-read", "verdict output", 0, 0, 0, 0, 0, guarded<read>}, {}};

ADAPTER_CONSTRUCTOR start() { library("jsoncpp", JSONCPP_VERSION_STRING, nullptr, entries); }
