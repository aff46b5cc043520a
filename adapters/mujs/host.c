/* MuJS's own shell reads at most 255 characters a line and does not flush, so this passes lines to mujs.js and back. */
#include <mujs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static void call(js_State *J, const char *function, const char *argument) {
    js_getglobal(J, function);
    js_pushundefined(J);
    js_pushstring(J, argument);
    if (js_pcall(J, 1)) fprintf(stderr, "%s\n", js_trystring(J, -1, "error")), exit(1);
    puts(js_tostring(J, -1));
    js_pop(J, 1);
}

int main(int argc, char **argv) {
    char *line = NULL, **batch = NULL, version[64];
    size_t room = 0, lines = 0, i;
    ssize_t length;
    js_State *J = js_newstate(NULL, NULL, 0);
    if (!J || argc < 2 || js_dofile(J, argv[1])) return 1;
    sprintf(version, "%d.%d.%d", JS_VERSION_MAJOR, JS_VERSION_MINOR, JS_VERSION_PATCH);
    call(J, "greeting", version);       /* of the header, with which the static library came */
    fflush(stdout);
    while ((length = getline(&line, &room, stdin)) > 0) {
        if (line[length - 1] == '\n') line[--length] = 0;
        if (length) {
            batch = realloc(batch, (lines + 1) * sizeof *batch);
            batch[lines++] = strdup(line);
            continue;
        }
        for (i = 0; i < lines; i++) call(J, "answer", batch[i]), free(batch[i]);
        lines = 0;
        fflush(stdout);
    }
    return 0;
}
