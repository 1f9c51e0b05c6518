// prctl takes variable arguments, which Swift cannot call.
#pragma once
#ifdef __linux__
#include <sys/prctl.h>

/// Keeps the process out of core dumps and away from debuggers of the same user; 0 on success.
static inline int pushcrypt_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
#else
static inline int pushcrypt_forbid_dumps(void) { return 0; }
#endif
