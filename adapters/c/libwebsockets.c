/* libwebsockets: the check of text messages, which keeps its state from chunk to chunk. */
#include "adapter.h"
#include <libwebsockets.h>

/* In the library, but in none of its public headers. */
extern int lws_check_utf8(unsigned char *state, unsigned char *buf, size_t len);
struct stream { unsigned char state; int bad; };

static void push(void *state, const uint8_t *in, size_t n)
{
    struct stream *s = state;
    if (!s->bad && lws_check_utf8(&s->state, (unsigned char *)in, n)) s->bad = 1;
    if (s->bad) rejected(-1, -1);
}
static void finish(void *state)
{
    struct stream *s = state;
    if (s->bad || s->state) rejected(-1, -1);
    else accepted();
    memset(s, 0, sizeof *s);
}
static void *open_(const entry *e) { (void)e; return calloc(1, sizeof(struct stream)); }
static void decode(const entry *e, const uint8_t *in, size_t n)
{
    struct stream s = {0};
    (void)e, push(&s, in, n), finish(&s);
}

static const entry entries[] = {
    {"libwebsockets-check-utf8", "verdict stream", .decode = decode, .open = open_, .push = push, .finish = finish, .drop = free, .contract = "rfc3629 no-output", .source = "https://www.rfc-editor.org/rfc/rfc6455#section-8.1"},
    {0}};

ADAPTER_CONSTRUCTOR start(void) { library("libwebsockets", lws_get_library_version(), NULL, entries); }
