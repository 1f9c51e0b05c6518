// Has a crash of the command end with a line on standard error and exit 1. Otherwise a system that refuses memory or random bytes
// ends it silently.
#include "crashes.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static void put(const char *text) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

// Calls only what a signal handler may.
static void end(int number) {
    put("pushcrypt: error: crashed (");
    put(number == SIGSEGV ? "SIGSEGV" : number == SIGBUS ? "SIGBUS" : number == SIGABRT ? "SIGABRT" : number == SIGTRAP ? "SIGTRAP"
                                                                                                                       : "SIGILL");
    put("): the system may have refused memory or random bytes (ulimit -v, ulimit -l, /dev/urandom); otherwise report it\n");
    _exit(1);
}

// Before Swift's runtime starts, which needs random bytes.
__attribute__((constructor(101))) static void report_crashes(void) {
    // The end of the main thread's own stack is one of the crashes.
    static char stack[1 << 14];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGTRAP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action = {.sa_flags = SA_ONSTACK};
        action.sa_handler = end;
        sigaction(numbers[i], &action, NULL);
    }
}
