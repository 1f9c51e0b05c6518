// Replaces the C library's calls that change files: fails a chosen call, writes half of its bytes, or records every call with
// its data. Loaded with LD_PRELOAD. Only calls on files below FAULTS_ROOT and on standard output count.
//
//   FAULTS_ROOT   the absolute path of the directory
//   FAULTS_LOG    a file to append each call to; with FAULTS_DATA set, the written bytes follow the line
//   FAULTS_PLAN   "N once CODE": call N fails with this errno
//                 "N on CODE": call N and every later one fail; with ENOSPC only those that need disk space
//                 "N half": call N writes the first half of its bytes, and returns their count
//                 "N half-on CODE": the same, and later calls that need disk space fail with this errno
//   FAULTS_CLOCK  the clock is this many seconds slow
//   FAULTS_CHEAP  derives keys from passphrases at libsodium's lowest cost
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { descriptors = 1024 };

enum verdict { pass, fail, half };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *root;
static int log_file = -1, with_data, cheap;
static long planned, counted, seconds_late;
static int plan_code;
static char plan_mode[16];
// The path under which each descriptor was opened; empty for files outside the store.
static char paths[descriptors][PATH_MAX];

__attribute__((constructor)) static void start(void) {
    root = getenv("FAULTS_ROOT");
    with_data = getenv("FAULTS_DATA") != NULL;
    cheap = getenv("FAULTS_CHEAP") != NULL;
    const char *clock = getenv("FAULTS_CLOCK");
    if (clock != NULL) seconds_late = atol(clock);
    const char *log = getenv("FAULTS_LOG"), *plan = getenv("FAULTS_PLAN");
    // Above the descriptors of the program, whose numbers stay the same.
    if (log != NULL) {
        int number = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        log_file = fcntl(number, F_DUPFD_CLOEXEC, 900);
        close(number);
    }
    if (plan != NULL && sscanf(plan, "%ld %15s %d", &planned, plan_mode, &plan_code) < 2) abort();
    strcpy(paths[STDOUT_FILENO], "stdout");
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// MARK: Files of the store

static int is_below(const char *path) {
    size_t length = root == NULL ? 0 : strlen(root);
    return length > 0 && strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static const char *path_of(int descriptor) {
    if (descriptor < 0 || descriptor >= descriptors || paths[descriptor][0] == 0) return NULL;
    return paths[descriptor];
}

// The absolute path of a name in an open directory.
static const char *full(int directory, const char *name, char *buffer) {
    if (name[0] == '/' || directory == AT_FDCWD) return name;
    const char *parent = path_of(directory);
    if (parent == NULL) return "";
    snprintf(buffer, PATH_MAX, "%.*s/%.*s", PATH_MAX / 2 - 1, parent, PATH_MAX / 2 - 1, name);
    return buffer;
}

// MARK: The clock

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec -= seconds_late;
    return result;
}

// MARK: The log and the plan

static void put(const void *bytes, size_t count) {
    const char *rest = bytes;
    while (count > 0) {
        ssize_t done = syscall(SYS_write, log_file, rest, count);
        if (done <= 0) abort();
        rest += done, count -= (size_t)done;
    }
}

// Writes a line: the call, the process, the descriptor, the offset, the length, the path, and the second path of a rename or link.
static void note(const char *kind, int descriptor, off_t offset, size_t length, const char *path, const char *second,
                 const void *data) {
    char line[2 * PATH_MAX + 128];
    if (log_file < 0) return;
    int size = snprintf(line, sizeof line, "%s %d %d %ld %zu %s%s%s\n", kind, getpid(), descriptor, (long)offset, length,
                        path, second == NULL ? "" : "\t", second == NULL ? "" : second);
    put(line, (size_t)size);
    if (with_data && data != NULL) put(data, length);
}

static enum verdict decide(int needs_room, int can_be_short) {
    long number = ++counted;
    int later = number > planned && planned > 0;
    if (planned == 0 || number < planned) return pass;
    if (strcmp(plan_mode, "half") == 0 || strcmp(plan_mode, "half-on") == 0) {
        if (!later) return can_be_short ? half : pass;
        if (strcmp(plan_mode, "half") == 0 || !needs_room) return pass;
        return fail;
    }
    if (later && strcmp(plan_mode, "once") == 0) return pass;
    if (strcmp(plan_mode, "on") == 0 && plan_code == ENOSPC && !needs_room) return pass;
    return fail;
}

// Runs CALL unless the plan fails it, which returns -1.
#define GUARDED(concerns, needs_room, CALL, NOTE)                                                                          \
    do {                                                                                                                  \
        if (!(concerns)) return CALL;                                                                                     \
        pthread_mutex_lock(&mutex);                                                                                       \
        __typeof__(CALL) result = -1;                                                                                     \
        if (decide(needs_room, 0) == pass) result = CALL; else errno = plan_code;                                         \
        int code = errno;                                                                                                 \
        if (result >= 0 || !with_data) NOTE;                                                                              \
        pthread_mutex_unlock(&mutex);                                                                                     \
        errno = code;                                                                                                     \
        return result;                                                                                                    \
    } while (0)

// MARK: Writing

static ssize_t put_out(int descriptor, const void *bytes, size_t count, off_t offset, int at_offset) {
    const char *path = path_of(descriptor);
    if (path == NULL) {
        return at_offset ? REAL(pwrite64)(descriptor, bytes, count, offset) : REAL(write)(descriptor, bytes, count);
    }
    pthread_mutex_lock(&mutex);
    enum verdict verdict = decide(1, count > 1);
    ssize_t result = -1;
    if (!at_offset) offset = lseek(descriptor, 0, SEEK_CUR);
    if (verdict == half) count /= 2;
    if (verdict == fail) errno = plan_code;
    else result = at_offset ? REAL(pwrite64)(descriptor, bytes, count, offset) : REAL(write)(descriptor, bytes, count);
    int code = errno;
    if (result >= 0 || !with_data) note("write", descriptor, offset, result < 0 ? 0 : (size_t)result, path, NULL, bytes);
    pthread_mutex_unlock(&mutex);
    errno = code;
    return result;
}

ssize_t write(int descriptor, const void *bytes, size_t count) { return put_out(descriptor, bytes, count, 0, 0); }

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return put_out(descriptor, bytes, count, offset, 1);
}

// Some builds of SQLite call this one.
ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return put_out(descriptor, bytes, count, offset, 1);
}

int ftruncate64(int descriptor, off64_t size) {
    const char *path = path_of(descriptor);
    GUARDED(path != NULL, 0, REAL(ftruncate64)(descriptor, size), note("truncate", descriptor, size, 0, path, NULL, NULL));
}

int ftruncate(int descriptor, off_t size) { return ftruncate64(descriptor, size); }

// MARK: Synchronising

int fsync(int descriptor) {
    const char *path = path_of(descriptor);
    GUARDED(path != NULL, 0, REAL(fsync)(descriptor), note("sync", descriptor, 0, 0, path, NULL, NULL));
}

int fdatasync(int descriptor) {
    const char *path = path_of(descriptor);
    GUARDED(path != NULL, 0, REAL(fdatasync)(descriptor), note("sync", descriptor, 0, 0, path, NULL, NULL));
}

// MARK: Names

static int open_at(int directory, const char *name, int flags, mode_t mode) {
    char buffer[PATH_MAX];
    const char *path = full(directory, name, buffer);
    if (!is_below(path)) return REAL(openat64)(directory, name, flags, mode);
    pthread_mutex_lock(&mutex);
    int number = -1;
    if (decide((flags & O_CREAT) != 0, 0) == pass) number = REAL(openat64)(directory, name, flags, mode);
    else errno = plan_code;
    int code = errno;
    if (number >= descriptors) abort();
    if (number >= 0) strcpy(paths[number], path);
    if (number >= 0 || !with_data) note(flags & O_CREAT ? "create" : "open", number, 0, 0, path, NULL, NULL);
    pthread_mutex_unlock(&mutex);
    errno = code;
    return number;
}

static mode_t mode_of(int flags, va_list rest) { return flags & O_CREAT ? va_arg(rest, mode_t) : 0; }

#define OPENS(NAME, PARAMETERS, LAST, DIRECTORY, PATH)                                                                     \
    int NAME PARAMETERS {                                                                                                 \
        va_list rest;                                                                                                     \
        va_start(rest, LAST);                                                                                             \
        mode_t mode = mode_of(LAST, rest);                                                                                \
        va_end(rest);                                                                                                     \
        return open_at(DIRECTORY, PATH, LAST, mode);                                                                      \
    }

OPENS(open, (const char *path, int flags, ...), flags, AT_FDCWD, path)
OPENS(open64, (const char *path, int flags, ...), flags, AT_FDCWD, path)
OPENS(openat, (int directory, const char *path, int flags, ...), flags, directory, path)
OPENS(openat64, (int directory, const char *path, int flags, ...), flags, directory, path)

int close(int descriptor) {
    if (descriptor > STDERR_FILENO && descriptor < descriptors) paths[descriptor][0] = 0;
    return REAL(close)(descriptor);
}

int rename(const char *old, const char *new) {
    GUARDED(is_below(new), 1, REAL(rename)(old, new), note("rename", 0, 0, 0, old, new, NULL));
}

int renameat(int from, const char *old, int to, const char *new) {
    char one[PATH_MAX], two[PATH_MAX];
    const char *source = full(from, old, one), *target = full(to, new, two);
    GUARDED(is_below(target), 1, REAL(renameat)(from, old, to, new), note("rename", 0, 0, 0, source, target, NULL));
}

int linkat(int from, const char *old, int to, const char *new, int flags) {
    char one[PATH_MAX], two[PATH_MAX];
    const char *source = full(from, old, one), *target = full(to, new, two);
    GUARDED(is_below(target), 1, REAL(linkat)(from, old, to, new, flags), note("link", 0, 0, 0, source, target, NULL));
}

int unlink(const char *path) {
    GUARDED(is_below(path), 0, REAL(unlink)(path), note("unlink", 0, 0, 0, path, NULL, NULL));
}

int unlinkat(int directory, const char *name, int flags) {
    char buffer[PATH_MAX];
    const char *path = full(directory, name, buffer);
    GUARDED(is_below(path), 0, REAL(unlinkat)(directory, name, flags), note("unlink", 0, 0, 0, path, NULL, NULL));
}

int mkdir(const char *path, mode_t mode) {
    GUARDED(is_below(path), 1, REAL(mkdir)(path, mode), note("mkdir", 0, 0, 0, path, NULL, NULL));
}

int fchmod(int descriptor, mode_t mode) {
    const char *path = path_of(descriptor);
    GUARDED(path != NULL, 0, REAL(fchmod)(descriptor, mode), note("chmod", descriptor, 0, 0, path, NULL, NULL));
}

// MARK: Passphrases

int crypto_pwhash(unsigned char *out, unsigned long long out_length, const char *text, unsigned long long text_length,
                  const unsigned char *salt, unsigned long long passes, size_t memory, int algorithm) {
    int (*real)(unsigned char *, unsigned long long, const char *, unsigned long long, const unsigned char *,
                unsigned long long, size_t, int) = (__typeof__(real))dlsym(RTLD_NEXT, "crypto_pwhash");
    return cheap ? real(out, out_length, text, text_length, salt, 1, 8192, algorithm)
                 : real(out, out_length, text, text_length, salt, passes, memory, algorithm);
}
