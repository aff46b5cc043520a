/* Answers nothing to everything: what `utfuzz measure --adapters` shows for it is the cost of the protocol itself. */
#include "adapter.h"

static void nothing(const entry *e, const uint8_t *b, size_t n) { (void)e, (void)b, (void)n; }
static const entry entries[] = {{.name = "c-nothing", .answers = "verdict", .contract = "undocumented", .decode = nothing}, {0}};

ADAPTER_CONSTRUCTOR add(void) { library("nothing", "1", "nothing", entries); }
