/* libyaml: the bytes of a quoted string. Its line breaks are folded, so that there is no output. */
#include "adapter.h"
#include <yaml.h>

static void parse(const entry *e, const uint8_t *in, size_t n)
{
    (void)e;
    for (size_t i = 0; i < n; i++)
        if (in[i] < 32 || in[i] == '"' || in[i] == '\\') { impossible("a quoted string cannot hold this byte unescaped"); return; }
    char *all = malloc(n + 2);
    all[0] = all[n + 1] = '"', memcpy(all + 1, in, n);
    yaml_parser_t p;
    yaml_parser_initialize(&p), yaml_parser_set_encoding(&p, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&p, (unsigned char *)all, n + 2);
    yaml_event_t event;
    accepted();
    for (int last = 0; !last;) {
        if (!yaml_parser_parse(&p, &event)) {
            if (p.error != YAML_READER_ERROR) broken(p.problem);
            else if (strstr(p.problem, "control characters")) impossible(p.problem);
            else rejected(-1, -1); /* its offset is that of the byte that does not fit, not of the error */
            break;
        }
        last = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&p), free(all);
}

static const entry entries[] = {
    {"libyaml-parse", "verdict", .decode = parse, .contract = "rfc3629 no-output", .source = "https://yaml.org/spec/1.1/#id868742"},
    {0}};

ADAPTER_CONSTRUCTOR start(void) { library("libyaml", yaml_get_version_string(), NULL, entries); }
