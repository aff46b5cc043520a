// pugixml: conversion to wide characters.
#include "guarded.hpp"
#include <pugixml.hpp>

static void wide(Input in, size_t n)
{
    write(pugi::as_wide(text(in, n)));
}

static const entry entries[] = {{"pugixml-as-wide", "output", sizeof(wchar_t) == 2 ? "utf-16le" : "utf-32le", 0, 0, 0, 0, guarded<wide>}, {}};

ADAPTER_CONSTRUCTOR start()
{
    static std::string version = std::to_string(PUGIXML_VERSION / 1000) + "." + std::to_string(PUGIXML_VERSION / 10 % 100);
    library("pugixml", version.c_str(), nullptr, entries);
}
