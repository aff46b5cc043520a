// {fmt}: its internal conversion to UTF-16.
#include "guarded.hpp"
#include <fmt/format.h>

static void utf16(Input in, size_t n)
{
    try {
        fmt::detail::utf8_to_utf16 out({reinterpret_cast<const char *>(in), n});
        // The units of UTF-16 stand in wide characters, whatever their size.
        accepted(), write(std::u16string(out.c_str(), out.c_str() + out.size()));
    } catch (const std::runtime_error &) {
        rejected(-1, -1);
    }
}

static const entry entries[] = {
    {"fmt-utf8-to-utf16", "verdict output", "utf-16le", 0, 0, 0, 0, guarded<utf16>},
    {}};

ADAPTER_CONSTRUCTOR start()
{
    static std::string version = fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
    library("fmt", version.c_str(), nullptr, entries);
}
