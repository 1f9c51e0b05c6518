// Replaces two parts of Swift's runtime that cost a command a tenth of a millisecond at its start, where that runtime is linked in.
// Every definition is weak: another version of Swift that needs an original links it as well. Each is hidden, so that a runtime
// that is loaded, as in a debug build, does not see it.
#ifdef __linux__

#include "runtime.h"

#include <stdbool.h>
#include <stdlib.h>

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

#endif
