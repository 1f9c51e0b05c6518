// What Swift hands to C: Swift has no variables of a thread's own.
#pragma once
#include <stddef.h>

/// Keeps a text for `pushcrypt_last_error` of this thread; what is longer than PUSHCRYPT_ERROR_MAX is cut.
void pushcrypt_keep_error(const char *text, size_t length);
