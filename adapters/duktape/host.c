/* Duktape's own shell has no function that reads a line, so this passes lines to duktape.js and back. */
#include <duktape.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static void call(duk_context *ctx, const char *function, const char *name, const char *line) {
    duk_get_global_string(ctx, function);
    if (name) duk_push_string(ctx, name); else duk_push_undefined(ctx);
    duk_push_string(ctx, line);
    if (duk_pcall(ctx, 2) != 0) fprintf(stderr, "%s\n", duk_safe_to_string(ctx, -1)), exit(1);
    puts(duk_to_string(ctx, -1));
    duk_pop(ctx);
}

int main(int argc, char **argv) {
    static char script[65536];
    char *line = NULL, **batch = NULL;
    size_t room = 0, lines = 0, i;
    ssize_t length;
    const char *name = argc > 2 ? argv[2] : NULL;
    duk_context *ctx = duk_create_heap_default();
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!file) return 1;
    duk_push_lstring(ctx, script, fread(script, 1, sizeof script, file));
    fclose(file);
    if (duk_peval(ctx) != 0) return fprintf(stderr, "%s\n", duk_safe_to_string(ctx, -1)), 1;
    call(ctx, "greeting", name, "");
    fflush(stdout);
    while ((length = getline(&line, &room, stdin)) > 0) {
        if (line[length - 1] == '\n') line[--length] = 0;
        if (length) {
            batch = realloc(batch, (lines + 1) * sizeof *batch);
            batch[lines++] = strdup(line);
            continue;
        }
        for (i = 0; i < lines; i++) call(ctx, "answer", name, batch[i]), free(batch[i]);
        lines = 0;
        fflush(stdout);
    }
    return 0;
}
