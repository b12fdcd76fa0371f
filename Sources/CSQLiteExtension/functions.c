#include "CSQLiteExtension.h"

SQLITE_EXTENSION_INIT1

int sql_take_functions(sqlite3 *db, char **message, const sqlite3_api_routines *functions) {
    (void)db;
    (void)message;
    SQLITE_EXTENSION_INIT2(functions);
    return SQLITE_OK;
}
