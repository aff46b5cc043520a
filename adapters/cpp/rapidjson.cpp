// RapidJSON: parsing with and without validation, and conversion.
#include "guarded.hpp"
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>

using namespace rapidjson;
template <unsigned flags, class To> void parse(Input in, size_t n)
{
    if (not_for_json(in, n)) return;
    auto all = '"' + text(in, n) + '"';
    MemoryStream stream(all.data(), all.size());
    GenericDocument<To> d;
    d.template ParseStream<flags, UTF8<>>(stream);
    if (!d.HasParseError()) accepted(), write_output(d.GetString(), d.GetStringLength() * sizeof(typename To::Ch));
    else if (d.GetParseError() == kParseErrorStringInvalidEncoding) rejected(-1, -1);
    else broken(GetParseError_En(d.GetParseError()));
}

#define DOC "https://rapidjson.org/md_doc_encoding.html"
static const entry entries[] = {
    {"rapidjson-validate", "verdict output", 0, "rfc3629 no-output", DOC, 0, 0, guarded<parse<kParseValidateEncodingFlag, UTF8<>>>},
    {"rapidjson-parse", "verdict output", 0, 0, 0, 0, 0, guarded<parse<kParseNoFlags, UTF8<>>>},
    {"rapidjson-utf16", "verdict output", "utf-16le", 0, 0, 0, 0, guarded<parse<kParseValidateEncodingFlag, UTF16<char16_t>>>},
    {"rapidjson-utf32", "verdict output", "utf-32le", 0, 0, 0, 0, guarded<parse<kParseValidateEncodingFlag, UTF32<char32_t>>>},
    {}};

ADAPTER_CONSTRUCTOR start() { library("rapidjson", RAPIDJSON_VERSION_STRING, nullptr, entries); }
