// The last error of each thread. In C because Swift has no thread-local variables, and a key of the thread library would need
// memory that is freed when a thread ends, perhaps after the library is gone.
#include "last_error.h"

#include <string.h>

#include "pushcrypt.h"

static _Thread_local struct {
    size_t length;
    char text[PUSHCRYPT_ERROR_MAX];
} last;

// Copies as many whole characters of a text as fit, and a NUL; returns their length.
static size_t copy(char *out, size_t capacity, const char *text, size_t length) {
    size_t count = length < capacity ? length : capacity - 1;
    while (count > 0 && count < length && (text[count] & 0xC0) == 0x80) count--;
    memcpy(out, text, count);
    out[count] = 0;
    return count;
}

void pushcrypt_keep_error(const char *text, size_t length) { last.length = copy(last.text, sizeof last.text, text, length); }

size_t pushcrypt_last_error(char *out, size_t capacity) {
    if (out != NULL && capacity > 0) copy(out, capacity, last.text, last.length);
    return last.length;
}

const char *pushcrypt_version(void) { return PUSHCRYPT_VERSION; }
