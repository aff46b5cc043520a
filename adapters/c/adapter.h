/* What a C or C++ decoder needs to be an adapter of utfuzz: a table of entry points, and a few functions that answer. */
#ifndef ADAPTER_H
#define ADAPTER_H
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __cplusplus
extern "C" {
#endif

/* One way to decode; the texts are lines of the greeting. `with` is the adapter's own. In C++ entries are written in this
   order, so what is new stands at the end. */
typedef struct entry {
    const char *name, *answers, *output, *contract, *source, *environment;
    const void *with;
    void (*decode)(const struct entry *, const uint8_t *, size_t);
    void *(*open)(const struct entry *);
    void (*push)(void *, const uint8_t *, size_t);
    void (*finish)(void *);
    void (*drop)(void *);
    const char *encoding;
} entry;

/* Announces the entry points of a library, up to one without a name. Called before main. */
void library(const char *package, const char *version, const char *lineage, const entry *entries);

/* The parts of an answer. Without any the verdict is 2, and there is no output. */
void accepted(void);
void rejected(long offset, long length);
void write_output(const void *bytes, size_t length);
void impossible(const char *why);
void broken(const char *why);

/* A copy of the bytes with zeros behind them. Like every input it ends where readable memory ends. */
char *with_zeros(const uint8_t *, size_t, size_t zeros);
#define with_zero(bytes, length) with_zeros(bytes, length, 1)
/* Whether the input has one of these bytes, or a zero, which some contexts cannot hold; if so, that is the answer. */
int has_zero(const uint8_t *, size_t);
int has_any(const uint8_t *, size_t, const char *bytes, const char *why);

#define ADAPTER_CONSTRUCTOR __attribute__((constructor)) static void
#ifdef __cplusplus
}
#endif
#endif
