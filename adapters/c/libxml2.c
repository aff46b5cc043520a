/* libxml2: the UTF-8 functions, and the text of an element in XML and HTML. */
#include "adapter.h"
#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>

static void silent(void *context, xmlErrorPtr error) { (void)context, (void)error; }

static void check(const entry *e, const uint8_t *in, size_t n)
{
    if (has_zero(in, n)) return;
    const xmlChar *text = (xmlChar *)with_zero(in, n);
    if (e->with ? xmlUTF8Strlen(text) >= 0 : xmlCheckUTF8(text)) accepted();
    else rejected(-1, -1);
}

static void get_char(const entry *e, const uint8_t *in, size_t n)
{
    (void)e;
    if (has_zero(in, n)) return;
    const uint8_t *text = (uint8_t *)with_zero(in, n);
    accepted(), write_output("", 0);
    for (size_t at = 0; at < n;) {
        int length = (int)(n - at), c = xmlGetUTF8Char(text + at, &length);
        if (c < 0) { rejected((long)at, -1); return; }
        write_output(&c, 4), at += (size_t)length;
    }
}

static int unfit(const uint8_t *in, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (in[i] < 32 && in[i] != '\t' && in[i] != '\n') return impossible("XML cannot hold this control character"), 1;
        if (in[i] == '<' || in[i] == '&' || in[i] == ']') return impossible("markup"), 1;
        if (i + 2 < n && in[i] == 0xEF && in[i + 1] == 0xBF && in[i + 2] >= 0xBE) return impossible("not an XML character"), 1;
    }
    return 0;
}

static int is_encoding(xmlErrorPtr e)
{
    return e->code == XML_ERR_INVALID_ENCODING || e->code == XML_ERR_INVALID_CHAR || e->code == XML_I18N_CONV_FAILED;
}

static void parse(const entry *e, const uint8_t *in, size_t n)
{
    if (unfit(in, n)) return;
    static const char head[] = "<?xml version='1.0' encoding='UTF-8'?><a>", tail[] = "</a>";
    size_t h = strlen(head), t = strlen(tail);
    char *all = malloc(h + n + t);
    memcpy(all, head, h), memcpy(all + h, in, n), memcpy(all + h + n, tail, t);
    xmlParserCtxtPtr c = xmlNewParserCtxt();
    xmlDocPtr d = xmlCtxtReadMemory(c, all, (int)(h + n + t), NULL, NULL, e->with ? XML_PARSE_RECOVER | XML_PARSE_NOERROR : XML_PARSE_NOERROR);
    xmlErrorPtr error = xmlCtxtGetLastError(c);
    if (d && (e->with || !error)) {
        xmlChar *out = xmlNodeGetContent((xmlNodePtr)d);
        if (!e->with) accepted();
        write_output(out, strlen((char *)out)), xmlFree(out);
    } else if (error && is_encoding(error)) rejected(-1, -1);
    else broken(error ? error->message : "no document");
    if (d) xmlFreeDoc(d);
    xmlFreeParserCtxt(c), free(all);
}

/* The push parser writes text by a callback, as soon as it has some. */
static void text(void *c, const xmlChar *t, int n) { (void)c, write_output(t, (size_t)n); }
static void *open_(const entry *e)
{
    static xmlSAXHandler sax = {.initialized = XML_SAX2_MAGIC, .characters = text};
    static const char head[] = "<?xml version='1.0' encoding='UTF-8'?><a>";
    xmlParserCtxtPtr *s = malloc(sizeof *s);
    (void)e, *s = xmlCreatePushParserCtxt(&sax, NULL, head, (int)strlen(head), NULL);
    return s;
}
static void feed(xmlParserCtxtPtr c, const void *in, size_t n, int last)
{
    write_output("", 0);
    xmlParseChunk(c, in, (int)n, last);
    xmlErrorPtr error = xmlCtxtGetLastError(c);
    if (error && is_encoding(error)) rejected(-1, -1);
    else if (error) broken(error->message);
    else if (last) accepted();
}
static void push(void *s, const uint8_t *in, size_t n) { if (!unfit(in, n)) feed(*(xmlParserCtxtPtr *)s, in, n, 0); }
static void finish(void *state)
{
    xmlParserCtxtPtr *s = state, *new;
    feed(*s, "</a>", 4, 1), xmlFreeParserCtxt(*s);
    new = open_(NULL), *s = *new, free(new);
}
static void drop(void *s) { xmlFreeParserCtxt(*(xmlParserCtxtPtr *)s), free(s); }
static void whole(const entry *e, const uint8_t *in, size_t n)
{
    if (unfit(in, n)) return;
    xmlParserCtxtPtr *s = open_(e);
    if (n) xmlParseChunk(*s, (const char *)in, (int)n, 0);
    feed(*s, "</a>", 4, 1), drop(s);
}

static void html(const entry *e, const uint8_t *in, size_t n)
{
    (void)e;
    if (has_zero(in, n) || has_any(in, n, "<&\r", "markup")) return;
    static const char head[] = "<html><body><p>x", tail[] = "</p></body></html>";
    size_t h = strlen(head), t = strlen(tail);
    char *all = malloc(h + n + t);
    memcpy(all, head, h), memcpy(all + h, in, n), memcpy(all + h + n, tail, t);
    htmlDocPtr d = htmlReadMemory(all, (int)(h + n + t), NULL, "UTF-8", HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING);
    if (d) {
        xmlChar *out = xmlNodeGetContent((xmlNodePtr)d);
        write_output(out + 1, strlen((char *)out) - 1), xmlFree(out), xmlFreeDoc(d);
    } else broken("no document");
    free(all);
}

static void handler(const entry *e, const uint8_t *in, size_t n)
{
    (void)e;
    int length = (int)n * 4 + 8, used = (int)n;
    uint8_t *out = malloc((size_t)length);
    int code = xmlFindCharEncodingHandler("UTF-16LE")->output(out, &length, in, &used);
    if (code < 0) rejected(-1, -1);
    else if ((size_t)used < n) rejected(used, 0);
    else accepted(), write_output(out, (size_t)length);
    free(out);
}

/* xmlCheckUTF8 is documented as not strict, in a way that is none of the contracts. */
static const entry entries[] = {
    {"libxml2-checkutf8", "verdict", .decode = check},
    {"libxml2-utf8strlen", "verdict", .with = "", .decode = check},
    {"libxml2-getutf8char", "verdict offset output", "utf-32le", .decode = get_char},
    {"libxml2-utf16le-handler", "verdict output", "utf-16le", .decode = handler},
    {"libxml2-xml", "verdict output", .decode = parse, .contract = "rfc3629 no-output", .source = "https://www.w3.org/TR/xml/#charencoding"},
    {"libxml2-xml-push", "verdict output stream", .decode = whole, .open = open_, .push = push, .finish = finish, .drop = drop, .contract = "rfc3629 no-output", .source = "https://www.w3.org/TR/xml/#charencoding"},
    {"libxml2-xml-recover", "output", .with = "", .decode = parse},
    {"libxml2-html", "output", .decode = html},
    {0}};

ADAPTER_CONSTRUCTOR start(void)
{
    xmlInitParser(), xmlSetStructuredErrorFunc(NULL, silent);
    library("libxml2", xmlParserVersion, NULL, entries);
}
