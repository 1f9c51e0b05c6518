// Calls of SQLite for the key store that Swift cannot make. Includes no system header, whose declarations Swift would import as part
// of this module.
#pragma once

struct sqlite3;

/// Makes SQLite reserve disk space for the files that it maps, in the whole process.
void pushcrypt_reserve_mapped_files(void);

/// Returns the errno of the last failed system call on the database file or its log; 0 if none failed.
int pushcrypt_file_errno(struct sqlite3 *database);

/// Keeps the log's files when this connection closes if another database now has the file's name.
void pushcrypt_keep_log_of_another(struct sqlite3 *database);
