// Calls of SQLite for the key store that Swift cannot make. Includes no system header, whose declarations Swift would import as part
// of this module.
#pragma once

struct sqlite3;

/// Makes SQLite reserve disk space for the files that it maps, and notice where there are no locks, in the whole process.
void pushcrypt_prepare_system(void);

/// Returns whether the system had no lock for this thread's last request.
int pushcrypt_has_no_locks(void);

/// Returns the errno of the last failed system call on the database file or its log; 0 if none failed.
int pushcrypt_file_errno(struct sqlite3 *database);

/// Keeps the log's files when this connection closes if another database now has the file's name.
void pushcrypt_keep_log_of_another(struct sqlite3 *database);

/// Registers the files whose pages have checksums, as `pushcrypt` for `sqlite3_open_v2`. Once in a process.
void pushcrypt_register_checksums(void);

/// Makes room for the checksums of a new database; returns a result code.
int pushcrypt_reserve_checksums(struct sqlite3 *database);

/// Gives each page the checksum of what it holds; returns a result code. The log must be empty.
int pushcrypt_renew_checksums(struct sqlite3 *database);

/// Whether this thread compares the checksums of pages that it reads from now on.
void pushcrypt_compare_checksums(int compare);

enum { PUSHCRYPT_DAMAGED_PAGE = 1, PUSHCRYPT_UNCHECKED_PAGE = 2 };

/// Returns what this thread has read since the last call: pages that differ from their checksums, pages that were not compared.
int pushcrypt_pages_seen(void);
