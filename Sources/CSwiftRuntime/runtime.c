// Replaces two parts of Swift's runtime that cost a command a tenth of a millisecond at its start, where that runtime is linked in,
// and gets its variables into memory.
// Every definition is weak: another version of Swift that needs an original links it as well. Each is hidden, so that a runtime
// that is loaded, as in a debug build, does not see it.
#ifdef __linux__

#include "runtime.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define REPLACEMENT __attribute__((weak, visibility("hidden")))

// 1. The handler that prints a backtrace of a crash. At its start it looks for the program `swift-backtrace` in eight folders, even
// if it is off. Without it, no variable of the environment has registers and memory written out, which may hold keys.
REPLACEMENT bool _swift_backtrace_isThunkFunction(const char *name) {
    (void)name;
    return false;
}

// All settings 0: off. Longer than the structure.
REPLACEMENT long _swift_backtraceSettings[64];

// 2. The arguments. Swift reads /proc/self/maps to find the stack, and searches it for them.
#ifdef __GLIBC__
static int count;
static char **arguments;

// The GNU C library calls a constructor with what it calls `main` with.
__attribute__((constructor)) static void keep_arguments(int argc, char **argv) {
    count = argc;
    arguments = argv;
}

REPLACEMENT char **_swift_stdlib_getUnsafeArgvArgc(int *argc) {
    *argc = count;
    return arguments;
}
#endif

// 3. Swift's variables are spread over 60 pages, of which a command reads and then writes a third. One call gets all of them, which
// takes less time than 40 page faults. An older kernel refuses, which changes nothing.
#if defined(MADV_POPULATE_WRITE) && defined(__x86_64__)
extern char __bss_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

__attribute__((constructor)) static void touch_variables(void) {
    const uintptr_t page = 4096;
    uintptr_t start = ((uintptr_t)__bss_start + page - 1) & ~(page - 1);
    uintptr_t end = (uintptr_t)_end & ~(page - 1);
    if (start < end) madvise((void *)start, end - start, MADV_POPULATE_WRITE);
}
#endif

#endif
