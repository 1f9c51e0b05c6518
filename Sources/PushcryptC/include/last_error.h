// Called from Swift, which has no thread-local variables.
#pragma once
#include <stddef.h>

/// Stores a text for `pushcrypt_last_error` on this thread, shortened to PUSHCRYPT_ERROR_MAX.
void pushcrypt_keep_error(const char *text, size_t length);
