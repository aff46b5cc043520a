/* HarfBuzz: the code points that a buffer gets. */
#include "adapter.h"
#include <hb.h>

static void add(const entry *e, const uint8_t *in, size_t n)
{
    static hb_buffer_t *b;
    (void)e;
    if (!b) b = hb_buffer_create();
    hb_buffer_reset(b), hb_buffer_add_utf8(b, (const char *)in, (int)n, 0, (int)n);
    unsigned count;
    const hb_glyph_info_t *info = hb_buffer_get_glyph_infos(b, &count);
    write_output("", 0);
    for (unsigned i = 0; i < count; i++) write_output(&info[i].codepoint, 4);
}

static const entry entries[] = {{"harfbuzz-buffer-add-utf8", "output", "utf-32le", .decode = add}, {0}};

ADAPTER_CONSTRUCTOR start(void) { library("harfbuzz", hb_version_string(), NULL, entries); }
