// Boost.Locale: conversion between the forms of Unicode, and from UTF-8 as a named encoding.
#include "guarded.hpp"
#include <boost/locale/encoding.hpp>
#include <boost/version.hpp>

using namespace boost::locale::conv;
template <class To, method_type how, bool named> void convert(Input in, size_t n)
{
    auto from = reinterpret_cast<const char *>(in);
    try {
        std::basic_string<To> out;
        if constexpr (named) out = to_utf<To>(from, from + n, "UTF-8", how);
        else out = utf_to_utf<To>(from, from + n, how);
        if (how == stop) accepted();
        write(out);
    } catch (const conversion_error &) {
        rejected(-1, -1);
    }
}

#define DOC "https://www.boost.org/doc/libs/1_74_0/libs/locale/doc/html/group__codepage.html"
static const entry entries[] = {
    {"boost-locale-utf-to-utf-stop", "verdict output", "utf-32le", "rfc3629 no-output", DOC, 0, 0, guarded<convert<char32_t, stop, false>>},
    {"boost-locale-utf-to-utf-skip", "output", "utf-32le", 0, 0, 0, 0, guarded<convert<char32_t, skip, false>>},
    {"boost-locale-utf-to-utf16-skip", "output", "utf-16le", 0, 0, 0, 0, guarded<convert<char16_t, skip, false>>},
    {}};
// This library is built to ask iconv first.
static const entry named[] = {
    {"boost-locale-to-utf-stop", "verdict output", "utf-32le", "rfc3629 no-output", DOC, 0, 0, guarded<convert<wchar_t, stop, true>>},
    {"boost-locale-to-utf-skip", "output", "utf-32le", 0, 0, 0, 0, guarded<convert<wchar_t, skip, true>>},
    {}};

ADAPTER_CONSTRUCTOR start()
{
    static std::string version = std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000) + "." + std::to_string(BOOST_VERSION % 100);
    library("boost-locale", version.c_str(), nullptr, entries);
    library("boost-locale", version.c_str(), "glibc", named);
}
