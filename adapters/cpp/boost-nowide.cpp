// Boost.Nowide: conversion between the forms of Unicode, with a replacement.
#include "guarded.hpp"
#include <boost/nowide/utf/convert.hpp>
#include <boost/version.hpp>

template <class To> void convert(Input in, size_t n)
{
    auto from = reinterpret_cast<const char *>(in);
    write(boost::nowide::utf::convert_string<To>(from, from + n));
}

static const entry entries[] = {
    {"boost-nowide-convert-char32", "output", "utf-32le", 0, 0, 0, 0, guarded<convert<char32_t>>},
    {"boost-nowide-convert-char16", "output", "utf-16le", 0, 0, 0, 0, guarded<convert<char16_t>>},
    {}};

ADAPTER_CONSTRUCTOR start()
{
    static std::string version = std::to_string(BOOST_VERSION / 100000) + "." + std::to_string(BOOST_VERSION / 100 % 1000) + "." + std::to_string(BOOST_VERSION % 100);
    library("boost-nowide", version.c_str(), nullptr, entries);
}
