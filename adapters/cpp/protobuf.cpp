// Protocol Buffers: a string field of proto3, in the well-known message StringValue.
#include "guarded.hpp"
#include <google/protobuf/wrappers.pb.h>

static void parse(Input in, size_t n)
{
    std::string all(1, '\n');
    for (size_t rest = n;; rest >>= 7)
        if (rest < 128) { all += char(rest); break; } else all += char(rest | 128);
    google::protobuf::StringValue value;
    if (value.ParseFromString(all + text(in, n))) accepted(), write(value.value());
    else rejected(-1, -1);
}

static const entry entries[] = {
    {"protobuf-cpp-parse", "verdict output", 0, "rfc3629 no-output", "https://protobuf.dev/programming-guides/proto3/#scalar", 0, 0, guarded<parse>},
    {}};

ADAPTER_CONSTRUCTOR start()
{
    static std::string version = google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION);
    google::protobuf::LogSilencer *silent = new google::protobuf::LogSilencer;
    (void)silent, library("protobuf-cpp", version.c_str(), nullptr, entries);
}
