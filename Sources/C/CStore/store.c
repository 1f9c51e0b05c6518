#define _GNU_SOURCE
#include "store.h"

#include <sqlite3.h>
#include <stddef.h>

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>

// Maps part of a file, after reserving its disk space. SQLite reserves the log's index by writing one byte of each page; where
// blocks are smaller than pages, a signal would end the process when the disk is full.
static void *map(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    if ((protection & PROT_WRITE) && (flags & MAP_SHARED)) {
        int code;
        do code = fallocate(file, 0, offset, (off_t)length);
        while (code != 0 && errno == EINTR);
        // After any other failure, the file system cannot reserve space.
        if (code != 0 && (errno == ENOSPC || errno == EDQUOT)) return MAP_FAILED;
    }
    return mmap(address, length, protection, flags, file, offset);
}

static _Thread_local int has_no_locks;

// SQLite takes a file system without locks for one that another process has locked.
static int control(int file, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    int code = fcntl(file, command, argument);
    if (command == F_SETLK) has_no_locks = code != 0 && errno == ENOLCK;
    return code;
}
#endif

void pushcrypt_prepare_system(void) {
#ifdef __linux__
    sqlite3_vfs *system = sqlite3_vfs_find("unix");
    if (system == NULL || system->iVersion < 3) return;
    system->xSetSystemCall(system, "mmap", (sqlite3_syscall_ptr)map);
    system->xSetSystemCall(system, "fcntl", (sqlite3_syscall_ptr)control);
#endif
}

int pushcrypt_has_no_locks(void) {
#ifdef __linux__
    return has_no_locks;
#else
    return 0;
#endif
}

int pushcrypt_file_errno(sqlite3 *database) {
    int code = 0;
    sqlite3_file *log = NULL;
    sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &code);
    sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (code == 0 && log != NULL && log->pMethods != NULL) log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &code);
    return code;
}

void pushcrypt_keep_log_of_another(sqlite3 *database) {
    int moved = 0, keep = 1;
    sqlite3_file_control(database, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (moved) sqlite3_file_control(database, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
}
