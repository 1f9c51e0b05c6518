// Words of questions and answers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

_Noreturn void broken(const char *why) {
    printf("broken %s\n", why);
    exit(1);
}

uint8_t *room(size_t length) {
    uint8_t *bytes = malloc(length + 1);
    if (bytes == NULL) broken("no memory");
    return bytes;
}

// The bytes of a word, with a zero byte behind them.
struct data data(const char *word) {
    const size_t length = strcmp(word, "-") == 0 ? 0 : strlen(word);
    struct data result = {room(length / 2), 0};
    if (sodium_hex2bin(result.bytes, length / 2 + 1, word, length, NULL, &result.length, NULL) != 0) broken("no hexadecimal digits");
    result.bytes[result.length] = 0;
    return result;
}

void write_hex(const uint8_t *bytes, size_t length) {
    static const char digits[] = "0123456789abcdef";
    if (length == 0) putchar('-');
    for (size_t index = 0; index < length; index++) {
        putchar(digits[bytes[index] >> 4]);
        putchar(digits[bytes[index] & 15]);
    }
}

void write_text(const char *text) {
    write_hex((const uint8_t *)text, strlen(text));
}

void write_public(const uint8_t key[KEY], enum key_kind kind) {
    char text[LONGEST_KEY_TEXT + 1];
    key_text(text, key, kind);
    fputs(text, stdout);
}

// A key of a vector that has to be good.
void read_key(uint8_t key[KEY], const char *text, enum key_kind kind) {
    if (parse_key(key, text, strlen(text), kind) != NULL) broken("a key is refused");
}

// Cuts off what stands before the character, and gives the rest; NULL when there is none.
char *cut(char *text, char character) {
    char *found = strchr(text, character);
    if (found != NULL) *found++ = 0;
    return found;
}
