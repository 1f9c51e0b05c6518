// SQLite 3.36, which iOS 15.0 has, or later: the system's own package on Linux, the SDK's on Apple systems.
#include <sqlite3.h>

/// Turns off memory statistics and the preallocated page cache. Swift cannot call variadic functions. No effect once SQLite has started.
static inline void pushcrypt_configure_sqlite(void) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
}

/// Lets the next change treat the file as empty, whatever it holds. Swift cannot call variadic functions.
static inline int pushcrypt_ignore_content(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_RESET_DATABASE, 1, (int *)0);
}
