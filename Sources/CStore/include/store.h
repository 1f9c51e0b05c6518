// What the key store asks of SQLite that Swift cannot say, without the system's headers: Swift would take them for this module's.
#pragma once

struct sqlite3;

/// Has SQLite reserve room for what it maps, in the whole process.
void pushcrypt_reserve_mapped_files(void);

/// Returns the error number of the last system call that failed for a file of the database or its log, or 0.
int pushcrypt_file_errno(struct sqlite3 *database);

/// Keeps the files of the log when this connection is closed, if another database has taken its place.
void pushcrypt_keep_log_of_another(struct sqlite3 *database);
