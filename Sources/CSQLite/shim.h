// SQLite 3.36, which iOS 15.0 has, or later: the system's own package on Linux, the SDK's on Apple systems.
#include <sqlite3.h>
#ifdef __linux__
#include <errno.h>
#include <sys/mman.h>
#include <sys/types.h>
// Declared for GNU sources only.
extern int fallocate(int file, int mode, off_t offset, off_t length);
#endif

/// Turns off memory statistics and the preallocated page cache. Swift cannot call variadic functions. No effect once SQLite has started.
static inline void pushcrypt_configure_sqlite(void) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
}

#ifdef __linux__
/// Maps a part of a file that has room on the disk. SQLite writes a byte of each page of the log's index; where blocks are smaller,
/// the process would otherwise end by a signal when the disk is full.
static void *pushcrypt_map(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    if ((protection & PROT_WRITE) && (flags & MAP_SHARED)) {
        int code;
        do code = fallocate(file, 0, offset, (off_t)length); while (code != 0 && errno == EINTR);
        // Other failures mean that the file system does not reserve room.
        if (code != 0 && (errno == ENOSPC || errno == EDQUOT)) return MAP_FAILED;
    }
    return mmap(address, length, protection, flags, file, offset);
}
#endif

/// Has SQLite reserve room for what it maps, in the whole process.
static inline void pushcrypt_reserve_mapped_files(void) {
#ifdef __linux__
    sqlite3_vfs *system = sqlite3_vfs_find("unix");
    if (system != 0 && system->iVersion >= 3) system->xSetSystemCall(system, "mmap", (sqlite3_syscall_ptr)pushcrypt_map);
#endif
}

/// Keeps the files of the log when this connection is closed, if another database has taken its place.
static inline void pushcrypt_keep_log_of_another(sqlite3 *database) {
    int moved = 0, keep = 1;
    sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (moved) sqlite3_file_control(database, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
}

/// Returns the error number of the last system call that failed for a file of the database or its log, or 0.
static inline int pushcrypt_file_errno(sqlite3 *database) {
    int code = 0;
    sqlite3_file *log = 0;
    sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &code);
    sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (code == 0 && log != 0 && log->pMethods != 0) log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &code);
    return code;
}
