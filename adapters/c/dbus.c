/* D-Bus: the check of a string of its specification. */
#include "adapter.h"
#include <dbus/dbus.h>
#include <stdio.h>

static void check(const entry *e, const uint8_t *in, size_t n)
{
    (void)e;
    if (has_zero(in, n)) return;
    if (dbus_validate_utf8(with_zero(in, n), NULL)) accepted();
    else rejected(-1, -1);
}

static const entry entries[] = {
    {"dbus-validate-utf8", "verdict", .decode = check, .contract = "rfc3629 no-output", .source = "https://dbus.freedesktop.org/doc/dbus-specification.html#basic-types"},
    {0}};

ADAPTER_CONSTRUCTOR start(void)
{
    static char version[32];
    int major, minor, micro;
    dbus_get_version(&major, &minor, &micro);
    snprintf(version, sizeof version, "%d.%d.%d", major, minor, micro), library("dbus", version, NULL, entries);
}
