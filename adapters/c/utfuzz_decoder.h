/* The interface between utfuzz and a decoder in a shared library, version 1, in C11 and C++.

   A plugin is a shared library that exports the function utfuzz_plugin_v1. It returns a table of entry points, each of
   which is one way to decode. docs/adapter.md says what the words in it mean, and example.c and example.cpp are plugins.

   Ownership: the table and everything it points to belongs to the plugin, and does not change as long as it is loaded.
   The input, the answer and `to` belong to utfuzz, and are valid until the function returns. A stream belongs to the
   plugin, from `open` to `drop`. Nobody frees what the other one has allocated.

   Memory: exactly `length` bytes may be read, and nothing follows them, not even a zero. If `length` is 0, `bytes` may not
   be read at all, but is not NULL.

   Threads: with --in-process, functions are called by several threads at once; those of one stream by one thread only.

   Errors: no function throws, and none uses longjmp to leave itself. */
#ifndef UTFUZZ_DECODER_H
#define UTFUZZ_DECODER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UTFUZZ_PLUGIN_VERSION 1

/* What an answer says about the input. */
enum utfuzz_verdict {
    UTFUZZ_ILL_FORMED = 0,
    UTFUZZ_WELL_FORMED = 1,
    UTFUZZ_NOT_STATED = 2,
    /* The decoder cannot be asked about this input. What is written is the reason, in words. */
    UTFUZZ_CANNOT_SAY = 3,
    /* The decoder failed in some way other than rejecting the input. What is written is the reason, in words. */
    UTFUZZ_FAILED = 4
};

/* The answer to one question. A function gets it with the values given here, and sets what it knows. */
typedef struct utfuzz_answer {
    int32_t verdict;    /* an utfuzz_verdict: UTFUZZ_NOT_STATED */
    int32_t has_output; /* 0: there is no output; 1: what is written is the output, even if that is nothing */
    ptrdiff_t offset;   /* of the first error, in bytes from the start of the input or the stream: -1, not stated */
    ptrdiff_t length;   /* of the first error in bytes, 0 if more bytes could complete it: -1, not stated */
} utfuzz_answer;

/* Adds bytes to what is written. It copies them, and may be called any number of times with the `to` of the same call. */
typedef void (*utfuzz_write)(void *to, const void *bytes, size_t length);

/* One way to decode. The texts are UTF-8, zero-terminated, and of one line; the first three and `answers` are required. */
typedef struct utfuzz_entry {
    const char *name;        /* unique: lower-case letters, digits, `-`, `_` and `.` */
    const char *package;     /* the library */
    const char *version;     /* its version, as the library reports it */
    const char *lineage;     /* the implementation that runs; NULL: the package */
    const char *answers;     /* of `verdict offset length output stream`, those that it gives, separated by spaces */
    const char *output;      /* utf-8, utf-16le or utf-32le; NULL: utf-8 */
    const char *contract;    /* what the documentation promises, such as `rfc3629 byte U+FFFD`; NULL: nothing */
    const char *source;      /* the address of the documentation, or NULL */
    const char *environment; /* what else may change the answers, or NULL */

    /* Passed to `decode` and `open`; not used by utfuzz. */
    void *context;

    /* Decodes bytes as a whole. Required. */
    void (*decode)(void *context, const uint8_t *bytes, size_t length, utfuzz_answer *, utfuzz_write write, void *to);

    /* The next four are required if `stream` is among the answers, and otherwise NULL. */

    /* A stream at its start, or NULL if there can be none. Several may be open at once. */
    void *(*open)(void *context);
    /* Decodes the next chunk. What is written is output for this chunk. The verdict stays UTFUZZ_NOT_STATED, or becomes
       UTFUZZ_ILL_FORMED if the decoder rejects the stream; then no further answer is examined before `finish`. */
    void (*push)(void *stream, const uint8_t *bytes, size_t length, utfuzz_answer *, utfuzz_write write, void *to);
    /* Ends the input: the rest of the output, and the verdict on the whole stream. The next `push` starts anew. */
    void (*finish)(void *stream, utfuzz_answer *, utfuzz_write write, void *to);
    /* Frees the stream, at its end or before. */
    void (*drop)(void *stream);
} utfuzz_entry;

/* The table of entry points. */
typedef struct utfuzz_plugin {
    uint32_t version; /* UTFUZZ_PLUGIN_VERSION */
    uint32_t count;   /* how many entry points there are */
    const utfuzz_entry *entries;
} utfuzz_plugin;

#if defined __GNUC__
__attribute__((visibility("default")))
#endif
const utfuzz_plugin *utfuzz_plugin_v1(void);

#ifdef __cplusplus
}
#endif

#endif
