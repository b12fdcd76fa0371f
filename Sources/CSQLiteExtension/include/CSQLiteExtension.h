#pragma once
// Every call goes through the table of functions that the host passed to the extension: a host may have its own SQLite built in.
#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT3

/// Takes the host's functions: the signature of an extension's entry point.
int sql_take_functions(sqlite3 *db, char **message, const sqlite3_api_routines *functions);

/// Threads of the extension outlive a connection: without this, its code would be gone under them when SQLite unloads it.
void sql_stay_loaded(void);
static const int sql_loaded_for_good = SQLITE_OK_LOAD_PERMANENTLY;

#define SQL_CALL static inline __attribute__((always_inline))

SQL_CALL int sql_version(void) { return sqlite3_libversion_number(); }
SQL_CALL void *sql_allocate(sqlite3_uint64 count) { return sqlite3_malloc64(count); }
SQL_CALL void sql_free(void *pointer) { sqlite3_free(pointer); }
SQL_CALL char *sql_copy(const char *text) { return sqlite3_mprintf("%s", text); }

// Statements
SQL_CALL int sql_prepare(sqlite3 *db, const char *text, int count, sqlite3_stmt **statement, const char **rest) {
    return sqlite3_prepare_v2(db, text, count, statement, rest);
}
SQL_CALL int sql_step(sqlite3_stmt *s) { return sqlite3_step(s); }
SQL_CALL int sql_reset(sqlite3_stmt *s) { return sqlite3_reset(s); }
SQL_CALL int sql_finalize(sqlite3_stmt *s) { return sqlite3_finalize(s); }
SQL_CALL int sql_is_readonly(sqlite3_stmt *s) { return sqlite3_stmt_readonly(s); }
SQL_CALL int sql_parameter_count(sqlite3_stmt *s) { return sqlite3_bind_parameter_count(s); }
SQL_CALL int sql_bind_int64(sqlite3_stmt *s, int i, sqlite3_int64 value) { return sqlite3_bind_int64(s, i, value); }
SQL_CALL int sql_bind_double(sqlite3_stmt *s, int i, double value) { return sqlite3_bind_double(s, i, value); }
SQL_CALL int sql_bind_null(sqlite3_stmt *s, int i) { return sqlite3_bind_null(s, i); }
SQL_CALL int sql_bind_text(sqlite3_stmt *s, int i, const char *text, sqlite3_uint64 count) {
    return sqlite3_bind_text64(s, i, text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}
SQL_CALL int sql_bind_blob(sqlite3_stmt *s, int i, const void *bytes, sqlite3_uint64 count) {
    return count == 0 ? sqlite3_bind_zeroblob(s, i, 0) : sqlite3_bind_blob64(s, i, bytes, count, SQLITE_TRANSIENT);
}
SQL_CALL int sql_column_count(sqlite3_stmt *s) { return sqlite3_column_count(s); }
SQL_CALL const char *sql_column_name(sqlite3_stmt *s, int i) { return sqlite3_column_name(s, i); }
/// The column of a table that an answer's column shows unchanged; null for an expression, and where the host was built without this knowledge.
SQL_CALL const char *sql_column_table(sqlite3_stmt *s, int i) {
    return sqlite3_api->column_table_name ? sqlite3_column_table_name(s, i) : 0;
}
SQL_CALL const char *sql_column_origin(sqlite3_stmt *s, int i) {
    return sqlite3_api->column_origin_name ? sqlite3_column_origin_name(s, i) : 0;
}
SQL_CALL int sql_column_type(sqlite3_stmt *s, int i) { return sqlite3_column_type(s, i); }
SQL_CALL sqlite3_int64 sql_column_int64(sqlite3_stmt *s, int i) { return sqlite3_column_int64(s, i); }
SQL_CALL double sql_column_double(sqlite3_stmt *s, int i) { return sqlite3_column_double(s, i); }
SQL_CALL const unsigned char *sql_column_text(sqlite3_stmt *s, int i) { return sqlite3_column_text(s, i); }
SQL_CALL const void *sql_column_blob(sqlite3_stmt *s, int i) { return sqlite3_column_blob(s, i); }
SQL_CALL int sql_column_bytes(sqlite3_stmt *s, int i) { return sqlite3_column_bytes(s, i); }
SQL_CALL const char *sql_message(sqlite3 *db) { return sqlite3_errmsg(db); }
SQL_CALL int sql_execute(sqlite3 *db, const char *text) { return sqlite3_exec(db, text, 0, 0, 0); }

// Which statements run: all of a connection that do share a snapshot.
SQL_CALL sqlite3_stmt *sql_next_statement(sqlite3 *db, sqlite3_stmt *s) { return sqlite3_next_stmt(db, s); }
SQL_CALL const char *sql_statement_text(sqlite3_stmt *s) { return sqlite3_sql(s); }
SQL_CALL int sql_is_busy(sqlite3_stmt *s) { return sqlite3_stmt_busy(s); }
SQL_CALL int sql_runs(sqlite3_stmt *s) { return sqlite3_stmt_status(s, SQLITE_STMTSTATUS_RUN, 0); }

// Modules and functions
SQL_CALL int sql_create_module(sqlite3 *db, const char *name, const sqlite3_module *module, void *data, void (*destroy)(void *)) {
    return sqlite3_create_module_v2(db, name, module, data, destroy);
}
SQL_CALL int sql_declare(sqlite3 *db, const char *text) { return sqlite3_declare_vtab(db, text); }
SQL_CALL int sql_create_function(
    sqlite3 *db, const char *name, int count, int flags, void *data,
    void (*call)(sqlite3_context *, int, sqlite3_value **), void (*destroy)(void *)
) {
    return sqlite3_create_function_v2(db, name, count, SQLITE_UTF8 | flags, data, call, 0, 0, destroy);
}
SQL_CALL void *sql_user_data(sqlite3_context *c) { return sqlite3_user_data(c); }
SQL_CALL sqlite3 *sql_connection(sqlite3_context *c) { return sqlite3_context_db_handle(c); }
SQL_CALL const char *sql_collation(sqlite3_index_info *info, int i) { return sqlite3_vtab_collation(info, i); }
/// Whether the constraint is an IN whose values can be had together.
SQL_CALL int sql_can_take_all(sqlite3_index_info *info, int i) {
    return sqlite3_libversion_number() >= 3038000 ? sqlite3_vtab_in(info, i, -1) : 0;
}
SQL_CALL int sql_take_all(sqlite3_index_info *info, int i) { return sqlite3_vtab_in(info, i, 1); }
SQL_CALL int sql_first_of_all(sqlite3_value *all, sqlite3_value **value) { return sqlite3_vtab_in_first(all, value); }
SQL_CALL int sql_next_of_all(sqlite3_value *all, sqlite3_value **value) { return sqlite3_vtab_in_next(all, value); }

// Values
SQL_CALL int sql_value_type(sqlite3_value *v) { return sqlite3_value_type(v); }
SQL_CALL int sql_value_numeric_type(sqlite3_value *v) { return sqlite3_value_numeric_type(v); }
SQL_CALL sqlite3_int64 sql_value_int64(sqlite3_value *v) { return sqlite3_value_int64(v); }
SQL_CALL double sql_value_double(sqlite3_value *v) { return sqlite3_value_double(v); }
SQL_CALL const unsigned char *sql_value_text(sqlite3_value *v) { return sqlite3_value_text(v); }
SQL_CALL const void *sql_value_blob(sqlite3_value *v) { return sqlite3_value_blob(v); }
SQL_CALL int sql_value_bytes(sqlite3_value *v) { return sqlite3_value_bytes(v); }

// Results
SQL_CALL void sql_result_null(sqlite3_context *c) { sqlite3_result_null(c); }
SQL_CALL void sql_result_int64(sqlite3_context *c, sqlite3_int64 value) { sqlite3_result_int64(c, value); }
SQL_CALL void sql_result_double(sqlite3_context *c, double value) { sqlite3_result_double(c, value); }
SQL_CALL void sql_result_text(sqlite3_context *c, const char *text, sqlite3_uint64 count) {
    sqlite3_result_text64(c, text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}
SQL_CALL void sql_result_blob(sqlite3_context *c, const void *bytes, sqlite3_uint64 count) {
    if (count == 0) sqlite3_result_zeroblob(c, 0);
    else sqlite3_result_blob64(c, bytes, count, SQLITE_TRANSIENT);
}
SQL_CALL void sql_result_error(sqlite3_context *c, const char *text) { sqlite3_result_error(c, text, -1); }
