// Functions that Swift cannot call: with variable arguments, or visible only to GNU sources.
#pragma once
#ifdef __linux__
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

/// Opens a folder for neither reading nor writing.
static const int pushcrypt_no_access = O_PATH;

/// The path that the system started this program by, which needs no /proc; NULL if it does not say.
static inline const char *pushcrypt_program(void) { return (const char *)getauxval(AT_EXECFN); }

/// Keeps the process out of core dumps and away from debuggers of the same user; 0 on success.
static inline int pushcrypt_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/// The processors that this process may run on; 0 when the system does not say, as for more than the set holds.
static inline int pushcrypt_usable_processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

/// Has memory of 256 KiB and more go back to the system as soon as it is free, whichever thread has used it. What a thread
/// uses for each chunk of a batch stays its own: up to 1 MiB, or the system would give and take it for every chunk.
static inline void pushcrypt_return_large_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 18);
    mallopt(M_TRIM_THRESHOLD, 1 << 20);
    mallopt(M_TOP_PAD, 1 << 17);
#endif
}
#else
static const int pushcrypt_no_access = 0;
static inline void pushcrypt_return_large_memory(void) {}
static inline int pushcrypt_forbid_dumps(void) { return 0; }
static inline int pushcrypt_usable_processors(void) { return 0; }
#endif
