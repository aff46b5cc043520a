/* Expat: the input is the text of an element, as a whole or in chunks. */
#include "adapter.h"
#include <expat.h>

static const char HEAD[] = "<?xml version='1.0' encoding='UTF-8'?><a>";
struct stream { XML_Parser parser; int ended; };

static void text(void *data, const XML_Char *t, int n) { (void)data, write_output(t, (size_t)n); }

static int feed(struct stream *s, const void *in, size_t n, int last)
{
    if (s->ended) return 0;
    if (XML_Parse(s->parser, in, (int)n, last) == XML_STATUS_OK) return 1;
    enum XML_Error code = XML_GetErrorCode(s->parser);
    s->ended = 1;
    if (code == XML_ERROR_INVALID_TOKEN || code == XML_ERROR_PARTIAL_CHAR)
        rejected((long)XML_GetCurrentByteIndex(s->parser) - (long)strlen(HEAD), -1);
    else broken(XML_ErrorString(code));
    return 0;
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

static void begin(struct stream *s)
{
    XML_ParserReset(s->parser, NULL), s->ended = 0;
    XML_SetCharacterDataHandler(s->parser, text);
    feed(s, HEAD, strlen(HEAD), 0);
}
static void *open_(const entry *e)
{
    struct stream *s = calloc(1, sizeof *s);
    (void)e, s->parser = XML_ParserCreate(NULL), begin(s);
    return s;
}
static void push(void *s, const uint8_t *in, size_t n)
{
    write_output("", 0);
    if (!unfit(in, n)) feed(s, in, n, 0);
}
static void finish(void *state)
{
    struct stream *s = state;
    write_output("", 0);
    if (s->ended) rejected(-1, -1);
    else if (feed(s, "</a>", 4, 1)) accepted();
    begin(s);
}
static void drop(void *state) { XML_ParserFree(((struct stream *)state)->parser), free(state); }

static void decode(const entry *e, const uint8_t *in, size_t n)
{
    static struct stream *s;
    if (unfit(in, n)) return;
    if (!s) s = open_(e);
    accepted(), write_output("", 0);
    if (feed(s, in, n, 0)) feed(s, "</a>", 4, 1);
    begin(s);
}

static const entry entries[] = {
    {"expat-text", "verdict offset output stream", .decode = decode, .open = open_, .push = push, .finish = finish, .drop = drop, .contract = "rfc3629 no-output", .source = "https://www.w3.org/TR/xml/#charencoding"},
    {0}};

ADAPTER_CONSTRUCTOR start(void) { library("expat", XML_ExpatVersion(), NULL, entries); }
