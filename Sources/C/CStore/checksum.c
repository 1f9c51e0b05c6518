#include "store.h"

#include <sqlite3.h>
#include <string.h>

// Files of SQLite whose pages have checksums: each is computed when a page is written to the database, and compared when it is read.
//
// SQLite leaves the last bytes of each page to this file. A page that differs from its checksum is handed on all the same: its rows
// have tags, so what is found there is right or refused. What is not found there is unknown, so the caller asks whether such a page was
// read. Only the first page, which declares the tables, is refused. For the same reason a caller that looks for one row compares
// nothing until it does not find it.
//
// Zeros are no checksum. In the log and in memory pages have none, so another program that empties the log writes pages without.

enum { PAGE = 4096, CHECKSUM = 8, CONTENT = PAGE - CHECKSUM, COLUMNS = 4, RESERVED_BYTES = 20, HEADER = 100 };

static _Thread_local int compares;
static _Thread_local int seen;

// Lies behind what the system keeps of an open file.
struct methods {
    sqlite3_io_methods own;
    const sqlite3_io_methods *system;
};

static const sqlite3_io_methods *system_methods(const sqlite3_file *file) {
    return ((const struct methods *)file->pMethods)->system;
}

typedef sqlite3_uint64 vector __attribute__((vector_size(16), may_alias, aligned(16)));
typedef sqlite3_uint64 anywhere __attribute__((vector_size(16), may_alias, aligned(1)));

static sqlite3_uint64 little_endian(sqlite3_uint64 word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
}

static sqlite3_uint64 written(const unsigned char *page) {
    sqlite3_uint64 checksum;
    memcpy(&checksum, page + CONTENT, CHECKSUM);
    return checksum;
}

// The parity of each column of a page in rows of `sizeof sums` bytes: a read costs an instruction for 16 bytes.
#define FOLD(type)                                                                                                                    \
    for (const unsigned char *row = page; row < page + PAGE; row += 4 * sizeof sums)                                                   \
        for (int part = 0; part < 4 * COLUMNS; part++) sums[part % COLUMNS] ^= *(const type *)(row + 16 * part);

// A bijection of each word of the sums: one changed bit always changes the result, and so does another place.
static sqlite3_uint64 compute(const unsigned char *page, sqlite3_int64 offset) {
    vector sums[COLUMNS] = {{0}};
    if ((size_t)page % sizeof(vector) == 0) {
        FOLD(vector)
    } else {
        FOLD(anywhere)
    }
    sqlite3_uint64 sum = 1 + (sqlite3_uint64)(offset / PAGE);
    sums[COLUMNS - 1][1] ^= written(page);
    for (int word = 0; word < 2 * COLUMNS; word++) {
        sum = (sum ^ little_endian(sums[word / 2][word % 2])) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 32;
    }
    // No checksum is one bit away from none.
    return little_endian(sum | 3);
}

static void set(unsigned char *page, sqlite3_uint64 checksum) { memcpy(page + CONTENT, &checksum, CHECKSUM); }

static int read_page(sqlite3_file *file, unsigned char *page, sqlite3_int64 offset) {
    int code = system_methods(file)->xRead(file, page, PAGE, offset);
    if (code == SQLITE_IOERR_SHORT_READ) {
        // The rest of a page that begins within the file is lost; SQLite would take zeros for it.
        sqlite3_int64 size = 0;
        if (system_methods(file)->xFileSize(file, &size) == SQLITE_OK && size <= offset) return code;
        if (offset == 0) return SQLITE_IOERR_DATA;
        seen |= PUSHCRYPT_DAMAGED_PAGE;
        return code;
    }
    if (code != SQLITE_OK || written(page) == 0) return code;
    if (!compares) {
        seen |= PUSHCRYPT_UNCHECKED_PAGE;
    } else if (written(page) != compute(page, offset)) {
        if (offset == 0) return SQLITE_IOERR_DATA;
        seen |= PUSHCRYPT_DAMAGED_PAGE;
    }
    set(page, 0);
    return SQLITE_OK;
}

static int checked_read(sqlite3_file *file, void *buffer, int count, sqlite3_int64 offset) {
    // The header is read without a lock, and again as part of the first page.
    if (offset + count <= HEADER) return system_methods(file)->xRead(file, buffer, count, offset);
    if (count == PAGE && offset % PAGE == 0) return read_page(file, buffer, offset);
    // Newer versions of SQLite read a part of a page of a long row.
    if (offset % PAGE + count > PAGE) return SQLITE_IOERR_DATA;
    unsigned char page[PAGE];
    int code = read_page(file, page, offset - offset % PAGE);
    if (code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ) memcpy(buffer, page + offset % PAGE, (size_t)count);
    return code;
}

static int checked_write(sqlite3_file *file, const void *buffer, int count, sqlite3_int64 offset) {
    _Alignas(vector) unsigned char page[PAGE];
    if (count != PAGE || offset % PAGE != 0) return SQLITE_IOERR_WRITE;
    memcpy(page, buffer, PAGE);
    if (offset == 0 && page[RESERVED_BYTES] != CHECKSUM) return SQLITE_IOERR_WRITE;
    set(page, compute(page, offset));
    return system_methods(file)->xWrite(file, page, PAGE, offset);
}

static int checked_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *result) {
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    int code = system->xOpen(system, name, file, flags, result);
    if (code != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB)) return code;
    struct methods *methods = (struct methods *)((char *)file + vfs->szOsFile - (int)sizeof *methods);
    methods->system = file->pMethods;
    methods->own = *file->pMethods;
    // The third version maps the file instead of reading it.
    if (methods->own.iVersion > 2) methods->own.iVersion = 2;
    methods->own.xRead = checked_read;
    methods->own.xWrite = checked_write;
    file->pMethods = &methods->own;
    return code;
}

void pushcrypt_register_checksums(void) {
    static sqlite3_vfs checked;
    // Starts SQLite, which has no files otherwise.
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    if (system == NULL) return;
    checked = *system;
    checked.zName = "pushcrypt";
    checked.szOsFile = (system->szOsFile + 7) / 8 * 8 + (int)sizeof(struct methods);
    checked.xOpen = checked_open;
    sqlite3_vfs_register(&checked, 0);
}

int pushcrypt_reserve_checksums(sqlite3 *database) {
    int count = CHECKSUM;
    return sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &count);
}

int pushcrypt_renew_checksums(sqlite3 *database) {
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;
    int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK || file == NULL || file->pMethods == NULL || file->pMethods->xRead != checked_read) return code;
    code = file->pMethods->xFileSize(file, &size);
    for (sqlite3_int64 offset = 0; code == SQLITE_OK && offset + PAGE <= size; offset += PAGE) {
        unsigned char page[PAGE];
        code = system_methods(file)->xRead(file, page, PAGE, offset);
        sqlite3_uint64 checksum = compute(page, offset);
        if (code != SQLITE_OK || written(page) == checksum) continue;
        // Nothing but the checksum, in case another process writes the page meanwhile.
        code = system_methods(file)->xWrite(file, &checksum, CHECKSUM, offset + CONTENT);
    }
    return code == SQLITE_OK ? file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) : code;
}

void pushcrypt_compare_checksums(int compare) { compares = compare; }

int pushcrypt_pages_seen(void) {
    int pages = seen;
    seen = 0;
    return pages;
}
