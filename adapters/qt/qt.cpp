// Qt: strings, the decoder that keeps its state, and the check of a byte array.
#include "../cpp/guarded.hpp"
#include <QByteArray>
#include <QJsonDocument>
#include <QJsonArray>
#include <QString>
#include <QStringDecoder>
#include <QUrl>

static QByteArray bytes(Input in, size_t n) { return {reinterpret_cast<const char *>(in), qsizetype(n)}; }
static void put(const QString &s) { write_output(s.utf16(), size_t(s.size()) * 2); }

static void valid(Input in, size_t n)
{
    if (bytes(in, n).isValidUtf8()) accepted();
    else rejected(-1, -1);
}
static void from_utf8(Input in, size_t n) { put(QString::fromUtf8(bytes(in, n))); }
static void json(Input in, size_t n)
{
    if (not_for_json(in, n)) return;
    QJsonParseError e;
    auto d = QJsonDocument::fromJson("[\"" + bytes(in, n) + "\"]", &e);
    if (e.error == QJsonParseError::NoError) accepted(), put(d[0].toString());
    else if (e.error == QJsonParseError::IllegalUTF8String) rejected(-1, -1);
    else broken(e.errorString().toUtf8().constData());
}
static void percent(Input in, size_t n) { put(QUrl::fromPercentEncoding(bytes(in, n).toPercentEncoding())); }

struct Stream { QStringDecoder decoder{QStringDecoder::Utf8}; };
static void *open_(const entry *) { return new Stream; }
static void push(void *s, Input in, size_t n)
{
    QString out = static_cast<Stream *>(s)->decoder(bytes(in, n));
    put(out);
}
// There is no call that ends a stream: what is not complete is never written.
static void finish(void *s)
{
    write_output("", 0);
    static_cast<Stream *>(s)->decoder.resetState();
}
static void drop(void *s) { delete static_cast<Stream *>(s); }
static void decoder(Input in, size_t n)
{
    QStringDecoder d(QStringDecoder::Utf8);
    QString out = d(bytes(in, n));
    put(out);
}
static void stateless(Input in, size_t n)
{
    QStringDecoder d(QStringDecoder::Utf8, QStringConverter::Flag::Stateless);
    QString out = d(bytes(in, n));
    put(out);
}

static const entry entries[] = {
    {"qt6-bytearray-isvalidutf8", "verdict", 0, "rfc3629 no-output", "https://doc.qt.io/qt-6/qbytearray.html#isValidUtf8", 0, 0, guarded<valid>},
    {"qt6-string-fromutf8", "output", "utf-16le", 0, 0, 0, 0, guarded<from_utf8>},
    {"qt6-stringdecoder", "output stream", "utf-16le", 0, 0, 0, 0, guarded<decoder>, open_, push, finish, drop},
    {"qt6-stringdecoder-stateless", "output", "utf-16le", 0, 0, 0, 0, guarded<stateless>},
    {"qt6-json", "verdict output", "utf-16le", "rfc3629 no-output", "https://doc.qt.io/qt-6/qjsonparseerror.html#ParseError-enum", 0, 0, guarded<json>},
    {"qt6-url-frompercentencoding", "output", "utf-16le", 0, 0, 0, 0, guarded<percent>},
    {}};

ADAPTER_CONSTRUCTOR start() { library("qt6", qVersion(), nullptr, entries); }
