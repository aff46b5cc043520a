/* SQLite: text bound as UTF-8 and read back as UTF-16, or taken apart by SQL functions. */
#include "adapter.h"
#include <sqlite3.h>

static void ask(const entry *e, const uint8_t *in, size_t n)
{
    static sqlite3 *db;
    static sqlite3_stmt *query;
    if (!db && (sqlite3_open(":memory:", &db) || sqlite3_prepare_v2(db, e->with, -1, &query, NULL))) { broken(sqlite3_errmsg(db)); return; }
    sqlite3_bind_text64(query, 1, (const char *)in, n, SQLITE_STATIC, SQLITE_UTF8);
    if (sqlite3_step(query) == SQLITE_ROW) {
        const void *out = e->output ? sqlite3_column_text16(query, 0) : (const void *)sqlite3_column_text(query, 0);
        write_output(out, (size_t)(e->output ? sqlite3_column_bytes16(query, 0) : sqlite3_column_bytes(query, 0)));
    } else broken(sqlite3_errmsg(db));
    sqlite3_reset(query);
}

static const entry entries[] = {
    {"sqlite-text16", "output", "utf-16le", .with = "SELECT ?1", .decode = ask},
    {"sqlite-unicode-char", "output", .decode = ask, .with = "WITH RECURSIVE c(i) AS (SELECT 1 WHERE length(?1) UNION ALL SELECT i+1 FROM c WHERE i<length(?1)) "
        "SELECT coalesce(group_concat(char(unicode(substr(?1,i,1))),''),'') FROM c"},
    {0}};

ADAPTER_CONSTRUCTOR start(void) { library("sqlite", sqlite3_libversion(), NULL, entries); }
