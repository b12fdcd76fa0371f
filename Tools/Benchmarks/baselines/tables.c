// A ledger's positions through its virtual tables, and the same rows in a table of SQLite's own, in the same connection.
#include "commands.h"
#include "common.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NEWEST_TURNS = 2000, MOST_NODES = 100000 };

static void check(sqlite3 *db, int code, int wanted, const char *what) {
    if (code != wanted) fail("sqlite: %s: %s", what, db ? sqlite3_errmsg(db) : "no memory");
}

static void run(sqlite3 *db, const char *statement) { check(db, sqlite3_exec(db, statement, NULL, NULL, NULL), SQLITE_OK, statement); }

static sqlite3_stmt *prepare(sqlite3 *db, const char *text) {
    sqlite3_stmt *statement;
    check(db, sqlite3_prepare_v2(db, text, -1, &statement, NULL), SQLITE_OK, text);
    return statement;
}

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

static sqlite3 *open_with(const char *extension, const char *ledger) {
    sqlite3 *db = NULL;
    setenv("MESHLEDGER", ledger, 1);
    check(db, sqlite3_open(":memory:", &db), SQLITE_OK, "open");
    check(db, sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL), SQLITE_OK, "enable extensions");
    char *why = NULL;
    if (sqlite3_load_extension(db, extension, "sqlite3_meshledger_init", &why) != SQLITE_OK) fail("%s: %s", extension, why ? why : "?");
    run(db, "CREATE TABLE main.plain AS SELECT * FROM temp.positions ORDER BY node, time, sequence");
    run(db, "CREATE INDEX plain_by_node ON plain(node, time)");
    run(db, "ANALYZE main");
    return db;
}

// Count and sum of a column of all rows, in seconds.
static double scan(sqlite3 *db, sqlite3_stmt *statement, sqlite3_int64 found[2]) {
    double started = seconds_now();
    check(db, sqlite3_step(statement), SQLITE_ROW, "scan");
    for (int i = 0; i < 2; i++) found[i] = sqlite3_column_int64(statement, i);
    check(db, sqlite3_reset(statement), SQLITE_OK, "reset");
    return seconds_now() - started;
}

// The newest 100 positions of nodes, every value read: the median of a question, in seconds.
static double newest(sqlite3 *db, sqlite3_stmt *statement, char nodes[][16], int node_count, uint64_t *rows) {
    static double times[NEWEST_TURNS];
    for (int turn = 0; turn < NEWEST_TURNS; turn++) {
        double started = seconds_now();
        check(db, sqlite3_bind_text(statement, 1, nodes[turn * 7919 % node_count], -1, SQLITE_STATIC), SQLITE_OK, "bind");
        int code;
        volatile double sum = 0;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
            for (int i = 0; i < 5; i++) sum += sqlite3_column_double(statement, i);
            ++*rows;
        }
        check(db, code, SQLITE_DONE, "step");
        check(db, sqlite3_reset(statement), SQLITE_OK, "reset");
        times[turn] = seconds_now() - started;
    }
    return median(times, NEWEST_TURNS);
}

static int read_nodes(sqlite3 *db, char nodes[][16]) {
    sqlite3_stmt *statement = prepare(db, "SELECT DISTINCT node FROM main.plain ORDER BY 1");
    int count = 0;
    while (count < MOST_NODES && sqlite3_step(statement) == SQLITE_ROW)
        snprintf(nodes[count++], 16, "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    if (!count) fail("there are no positions");
    return count;
}

void command_tables(char **arguments, int count) {
    (void)count;
    int rounds = (int)parse_number(arguments[2], "ROUNDS", 1, 1000);
    sqlite3 *db = open_with(arguments[0], arguments[1]);
    static char nodes[MOST_NODES][16];
    int node_count = read_nodes(db, nodes);
    static const char *const tables[] = {"temp.positions", "main.plain"};
    sqlite3_stmt *scans[2], *newests[2];
    for (int i = 0; i < 2; i++) {
        char text[300];
        snprintf(text, sizeof text, "SELECT count(*), sum(altitude) FROM %s", tables[i]);
        scans[i] = prepare(db, text);
        snprintf(text, sizeof text,
                 "SELECT time, latitude, longitude, altitude, sequence FROM %s WHERE node = ? ORDER BY time DESC LIMIT 100", tables[i]);
        newests[i] = prepare(db, text);
    }
    double *times[4];
    for (int i = 0; i < 4; i++) times[i] = allocate((size_t)rounds, sizeof(double));
    sqlite3_int64 found[2][2] = {{0}};
    uint64_t rows[2] = {0, 0};
    for (int round = 0; round < rounds; round++)
        for (int turn = 0; turn < 2; turn++) {
            int side = round % 2 ? 1 - turn : turn;
            times[side][round] = scan(db, scans[side], found[side]);
            times[2 + side][round] = newest(db, newests[side], nodes, node_count, &rows[side]);
        }
    if (memcmp(found[0], found[1], sizeof found[0])) fail("the tables have other sums");
    if (rows[0] != rows[1]) fail("%llu rows of the newest, not %llu", (unsigned long long)rows[0], (unsigned long long)rows[1]);
    static const char *const names[] = {"ours_scan_us", "sqlite_scan_us", "ours_newest_us", "sqlite_newest_us"};
    report_start("tables", (uint64_t)found[0][0], 0);
    for (int i = 0; i < 4; i++)
        report_seconds(names[i], median(times[i], rounds) * 1e6 / (i < 2 ? (double)found[0][0] : 1));
    report_number("newest_rows", rows[0] / (uint64_t)(rounds * NEWEST_TURNS));
    report_end();
    for (int i = 0; i < 2; i++) {
        sqlite3_finalize(scans[i]);
        sqlite3_finalize(newests[i]);
    }
    for (int i = 0; i < 4; i++) free(times[i]);
    sqlite3_close(db);
}
