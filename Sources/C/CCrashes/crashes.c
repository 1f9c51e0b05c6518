// Ends a crashing command with a line on standard error and exit code 1. Without it, a command to which the system refuses memory
// or random bytes ends silently.
//
// It wipes nothing: no heap, and no stack, of this thread or another. The process ends at once and leaves no core file, and the
// system clears its pages before it gives them to another process.
#include "crashes.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(const char *text) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

// Calls only functions that are safe in a signal handler.
static void end(int number) {
    put("pushcrypt: error: crashed (");
    put(number == SIGSEGV ? "SIGSEGV" : number == SIGBUS ? "SIGBUS" : number == SIGABRT ? "SIGABRT" : number == SIGTRAP ? "SIGTRAP"
                                                                                                                       : "SIGILL");
    put("): the system may have refused memory or random bytes (ulimit -v, ulimit -l, /dev/urandom); otherwise report it\n");
    _exit(1);
}

// Runs before Swift's runtime starts, which needs random bytes.
__attribute__((constructor(101))) static void report_crashes(void) {
    // Swift's own report, which it can ask for, writes registers and memory out: they may hold keys. Not `setenv`, which moves the
    // environment, beside which Swift looks for the arguments.
    unsetenv("SWIFT_BACKTRACE");
    // One of the crashes is that the main thread's stack is full. Another thread has no second stack: when its own is full, the
    // process ends by the signal, without a line.
    static char stack[1 << 14];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGTRAP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action = {.sa_flags = SA_ONSTACK};
        action.sa_handler = end;
        sigaction(numbers[i], &action, NULL);
    }
}
