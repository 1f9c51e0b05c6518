// Reads questions from standard input, a line each, and answers them with the receiver in C. ../README.md has the language.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { MOST_WORDS = 14 };

static const struct {
    const char *question;
    int words;
    refusal (*answer)(char **words);
} ANSWERS[] = {
    {"key", 2, answer_key},
    {"check", 2, answer_check},
    {"context", 1, answer_context},
    {"text", 1, answer_text},
    {"fingerprint", 1, answer_fingerprint},
    {"open", 5, answer_open_text},
    {"push", 5, answer_open_push},
    {"statement", 4, answer_statement},
    {"seal", 12, answer_seal},
    {"reference", 1, answer_reference},
    {"attachments", 1, answer_attachments},
    {"fullbody", 1, answer_fullbody},
    {"file", 4, answer_file},
    {"sealfile", 2, answer_sealfile},
    {"misuse", 2, answer_misuse},
};

int main(void) {
    char *line = NULL;
    size_t capacity = 0;
    if (sodium_init() < 0) broken("libsodium does not start");
    while (getline(&line, &capacity, stdin) > 0) {
        char *words[MOST_WORDS] = {cut(line, '\n') == NULL ? NULL : line};
        int count = 0;
        while (count + 1 < MOST_WORDS && words[count] != NULL) {
            words[count + 1] = cut(words[count], ' ');
            count++;
        }
        refusal refused = "no-such-question";
        for (size_t index = 0; index < sizeof ANSWERS / sizeof *ANSWERS; index++) {
            if (words[0] == NULL || strcmp(words[0], ANSWERS[index].question) != 0) continue;
            if (count + (words[count] != NULL) != ANSWERS[index].words + 1) broken("not that many words");
            refused = ANSWERS[index].answer(words + 1);
        }
        if (refused != NULL) printf("refused %s", refused);
        putchar('\n');
        fflush(stdout);
    }
    free(line);
    return 0;
}
