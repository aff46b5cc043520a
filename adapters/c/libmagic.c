/* libmagic, the library of file: whether a text is taken for UTF-8. */
#include "adapter.h"
#include <magic.h>
#include <stdio.h>

static void detect(const entry *e, const uint8_t *in, size_t n)
{
    static magic_t m;
    (void)e;
    for (size_t i = 0; i < n; i++)
        if (in[i] < 32 || in[i] == 127) { impossible("not text, but binary data"); return; }
    if (!m) m = magic_open(MAGIC_MIME_ENCODING), magic_load(m, NULL);
    const char *is = n ? magic_buffer(m, in, n) : NULL;
    if (!n) impossible("an empty file has no encoding");
    else if (!is) broken(magic_error(m));
    else if (!strcmp(is, "utf-8") || !strcmp(is, "us-ascii")) accepted();
    else rejected(-1, -1);
}

static const entry entries[] = {{"libmagic-mime-encoding", "verdict", .decode = detect}, {0}};

ADAPTER_CONSTRUCTOR start(void)
{
    static char version[32];
    snprintf(version, sizeof version, "%d.%02d", magic_version() / 100, magic_version() % 100);
    library("libmagic", version, NULL, entries);
}
