/* Gumbo: the text behind a plaintext tag, which needs no escapes. */
#include "adapter.h"
#include <gumbo.h>

static const char HEAD[] = "<!DOCTYPE html><body><plaintext>";

static int text(const GumboNode *node)
{
    if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE) write_output(node->v.text.text, strlen(node->v.text.text));
    else if (node->type == GUMBO_NODE_ELEMENT)
        for (unsigned i = 0; i < node->v.element.children.length; i++) text(node->v.element.children.data[i]);
    return 0;
}

static void parse(const entry *e, const uint8_t *in, size_t n)
{
    (void)e;
    if (has_zero(in, n) || has_any(in, n, "\r", "HTML turns it into a line feed")) return;
    size_t h = strlen(HEAD);
    char *all = malloc(h + n);
    memcpy(all, HEAD, h), memcpy(all + h, in, n);
    GumboOutput *out = gumbo_parse_with_options(&kGumboDefaultOptions, all, h + n);
    write_output("", 0), text(out->root);
    gumbo_destroy_output(&kGumboDefaultOptions, out), free(all);
}

static const entry entries[] = {
    {"gumbo-plaintext", "output", .decode = parse, .contract = "rfc3629 maximal-subpart U+FFFD", .source = "https://html.spec.whatwg.org/multipage/parsing.html#the-input-byte-stream"},
    {0}};

ADAPTER_CONSTRUCTOR start(void) { library("gumbo", GUMBO_VERSION, NULL, entries); }
