// What the parts of the driver use of each other.
#ifndef DRIVER_H
#define DRIVER_H

#include "pushcrypt.h"

// words.c

struct data {
    uint8_t *bytes;
    size_t length;
};

_Noreturn void broken(const char *why);
uint8_t *room(size_t length);
struct data data(const char *word);
void write_hex(const uint8_t *bytes, size_t length);
void write_text(const char *text);
void write_public(const uint8_t key[KEY], enum key_kind kind);
void read_key(uint8_t key[KEY], const char *text, enum key_kind kind);
char *cut(char *text, char character);

// Answers print what they say, and return a refusal for `main` to print.

// answers-texts.c
refusal answer_key(char **words);
refusal answer_check(char **words);
refusal answer_context(char **words);
refusal answer_text(char **words);
refusal answer_fingerprint(char **words);

// answers-messages.c
refusal answer_open_text(char **words);
refusal answer_open_push(char **words);
refusal answer_statement(char **words);
refusal answer_seal(char **words);

// answers-files.c
refusal answer_reference(char **words);
refusal answer_attachments(char **words);
refusal answer_fullbody(char **words);
refusal answer_file(char **words);
refusal answer_sealfile(char **words);

// answers-misuse.c
refusal answer_misuse(char **words);

#endif
