/* The loop of an adapter that speaks frames: the greeting, then batches. Each input is placed so that readable memory
   ends with it: a decoder that reads past its input crashes, instead of answering by chance. */
#define _GNU_SOURCE
#include "adapter.h"
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static struct library { const char *package, *version, *lineage; const entry *entries; } libraries[99];
static int count;
static uint8_t *reply, *body;
static size_t used, room, body_room;
static struct { uint8_t verdict; int32_t offset, length; int has_output; size_t start; } now;

void library(const char *package, const char *version, const char *lineage, const entry *entries)
{
    libraries[count++] = (struct library){package, version, lineage, entries};
}

static void append(const void *bytes, size_t length)
{
    if (used + length > room && !(reply = realloc(reply, room = (used + length) * 2))) abort();
    if (length) memcpy(reply + used, bytes, length);
    used += length;
}

void accepted(void) { now.verdict = 1; }
/* What was written before the error is no answer: it goes with the rejection. */
void rejected(long offset, long length)
{
    now.verdict = 0, now.offset = offset, now.length = length, now.has_output = 0, used = now.start;
}
void write_output(const void *bytes, size_t length) { now.has_output = 1; append(bytes, length); }
static void reason(int verdict, const char *why)
{
    now.verdict = verdict, now.offset = now.length = -1, used = now.start;
    write_output(why, strlen(why));
}
void impossible(const char *why) { reason(3, why); }
void broken(const char *why) { reason(4, why); }

static uint8_t *place(int which, const uint8_t *bytes, size_t length, size_t more)
{
    static struct { uint8_t *memory; size_t size; } places[2];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), need = (length + more + page - 1) / page * page + page;
    if (places[which].size < need) {
        if (places[which].memory) munmap(places[which].memory, places[which].size + page);
        places[which].memory = mmap(0, need + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (places[which].memory == MAP_FAILED || mprotect(places[which].memory + need, page, PROT_NONE)) abort();
        places[which].size = need;
    }
    uint8_t *at = places[which].memory + places[which].size - length - more;
    if (length) memcpy(at, bytes, length);
    return at;
}

char *with_zeros(const uint8_t *bytes, size_t length, size_t zeros)
{
    uint8_t *copy = place(1, bytes, length, zeros);
    memset(copy + length, 0, zeros);
    return (char *)copy;
}

int has_any(const uint8_t *bytes, size_t length, const char *these, const char *why)
{
    for (size_t i = 0; i < length; i++)
        if (bytes[i] && strchr(these, bytes[i])) return impossible(why), 1;
    return 0;
}

int has_zero(const uint8_t *bytes, size_t length)
{
    return memchr(bytes, 0, length) ? impossible("a zero byte ends the string"), 1 : 0;
}

static void line(const char *key, const char *value) { if (value) printf("%s=%s\n", key, value); }

static void greet(const struct library *l, const entry *e)
{
    line("name", e->name), line("package", l->package), line("version", l->version), line("lineage", l->lineage);
    line("answers", e->answers), line("output", e->output), line("contract", e->contract), line("source", e->source);
    line("environment", e->environment), line("encoding", e->encoding);
}

struct stream { uint32_t number; void *state; struct stream *next; };

static void one(const entry *e, struct stream **streams, int operation, uint32_t number, const uint8_t *b, size_t n)
{
    struct stream **at = streams, *s;
    while (*at && (*at)->number != number) at = &(*at)->next;
    if (operation == 0) e->decode(e, place(0, b, n, 0), n);
    if (!operation || !e->open || (operation == 3 && !*at)) return;
    if (!(s = *at)) {
        if (!(s = *at = calloc(1, sizeof *s))) abort();
        s->number = number, s->state = e->open(e);
    }
    if (operation == 1) e->push(s->state, place(0, b, n, 0), n);
    if (operation == 2) e->finish(s->state);
    if (operation == 3) e->drop(s->state), *at = s->next, free(s);
}

int main(int argc, char **argv)
{
    const entry *chosen = NULL;
    struct stream *streams = NULL;
    puts("utfuzz 1 frames");
    for (int i = 0; i < count; i++)
        for (const entry *e = libraries[i].entries; e->name; e++)
            if (argc < 2 || !strcmp(argv[1], e->name)) greet(&libraries[i], chosen = e);
    puts(""), fflush(stdout);
    /* What a library prints must not get into the replies. */
    FILE *answers = fdopen(dup(1), "wb");
    dup2(2, 1);
    uint32_t size;
    while (chosen && fread(&size, 4, 1, stdin)) {
        if (size > body_room && !(body = realloc(body, body_room = size))) abort();
        if (size && !fread(body, size, 1, stdin)) break;
        used = 0;
        for (uint32_t i = 0; i + 9 <= size;) {
            uint32_t number, length;
            memcpy(&number, body + i + 1, 4), memcpy(&length, body + i + 5, 4);
            size_t head = used;
            append("0123456789ABC", 13);
            now.verdict = 2, now.offset = now.length = -1, now.has_output = 0, now.start = used;
            one(chosen, &streams, body[i], number, body + i + 9, length);
            int32_t written = now.has_output ? (int32_t)(used - now.start) : -1;
            reply[head] = now.verdict;
            memcpy(reply + head + 1, &now.offset, 4), memcpy(reply + head + 5, &now.length, 4);
            memcpy(reply + head + 9, &written, 4);
            i += 9 + length;
        }
        size = (uint32_t)used;
        fwrite(&size, 4, 1, answers), fwrite(reply, used, 1, answers), fflush(answers);
    }
    return 0;
}
