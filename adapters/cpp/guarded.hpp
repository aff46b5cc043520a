// An entry point in C++: an exception is a failure, unless it is the decoder's own word for ill-formed input.
#pragma once
#include "../c/adapter.h"
#include <exception>
#include <string>

using Input = const uint8_t *;
using Decode = void (*)(Input, size_t);

template <Decode decode> void guarded(const entry *, Input in, size_t n)
{
    try {
        decode(in, n);
    } catch (const std::exception &e) {
        broken(e.what());
    } catch (...) {
        broken("an exception");
    }
}
template <class Text> void write(const Text &t) { write_output(t.data(), t.size() * sizeof t[0]); }
inline std::string text(Input in, size_t n) { return std::string(reinterpret_cast<const char *>(in), n); }
// Whether a JSON string cannot hold the input as it is; if so, that is the answer.
inline bool not_for_json(Input in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (in[i] < 32 || in[i] == '"' || in[i] == '\\') return impossible("a JSON string cannot hold this byte unescaped"), true;
    return false;
}
