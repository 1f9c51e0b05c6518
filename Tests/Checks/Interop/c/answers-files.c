// Answers about files that travel beside a push.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static void write_reference(const struct reference *reference) {
    const char *texts[] = {reference->url, reference->type, reference->name};
    for (size_t index = 0; index < 3; index++) {
        write_text(texts[index]);
        putchar(' ');
    }
    write_hex(reference->key, KEY);
    putchar(' ');
    write_hex(reference->sha256, sizeof reference->sha256);
    printf(" %" PRIu64, reference->size);
}

refusal answer_reference(char **words) {
    struct data text = data(words[0]);
    struct json json;
    struct reference reference;
    refusal refused = parse_object(&json, text.bytes, text.length, "malformed-reference");
    if (refused == NULL) refused = parse_reference(&reference, json);
    if (refused == NULL) {
        printf("ok ");
        write_reference(&reference);
    }
    free(text.bytes);
    return refused;
}

refusal answer_attachments(char **words) {
    struct data text = data(words[0]);
    struct json payload;
    struct attachments attachments;
    struct reference body;
    bool has_body;
    const refusal refused = check_payload(&payload, text.bytes, text.length);
    if (refused == NULL) {
        payload_attachments(&attachments, payload);
        printf("ok ");
        for (size_t index = 0; index < attachments.count; index++) {
            if (index > 0) putchar(',');
            write_text(attachments.references[index].name);
        }
        fputs(attachments.count == 0 ? "- " : " ", stdout);
        const bool body_refused = payload_full_body(&body, &has_body, payload) != NULL;
        write_text(has_body && !body_refused ? body.url : "");
        putchar(' ');
        const char *comma = "";
        for (size_t index = 0; index < attachments.malformed; index++, comma = ",") printf("%smalformed-reference", comma);
        if (attachments.too_many) printf("%stoo-many-attachments", comma), comma = ",";
        if (body_refused) printf("%smalformed-reference", comma), comma = ",";
        if (*comma == 0) putchar('-');
    }
    free(text.bytes);
    return refused;
}

refusal answer_fullbody(char **words) {
    struct data plain = data(words[0]);
    const refusal refused = check_full_body(plain.bytes, plain.length);
    free(plain.bytes);
    if (refused == NULL) printf("ok");
    return refused;
}

struct plain {
    crypto_hash_sha256_state hash;
    size_t length;
};

static bool hash_plain(void *context, const uint8_t *bytes, size_t length) {
    struct plain *plain = context;
    crypto_hash_sha256_update(&plain->hash, bytes, length);
    plain->length += length;
    return true;
}

refusal answer_file(char **words) {
    static struct file_opener opener;
    struct data key = data(words[0]), sha256 = data(words[2]);
    struct plain plain = {.length = 0};
    uint8_t hash[crypto_hash_sha256_BYTES];
    refusal refused = NULL;
    crypto_hash_sha256_init(&plain.hash);
    file_open(&opener, key.bytes, strtoull(words[1], NULL, 10), sha256.bytes);
    for (char *piece = strcmp(words[3], "-") == 0 ? NULL : words[3], *next; piece != NULL && refused == NULL; piece = next) {
        next = cut(piece, ',');
        struct data bytes = data(piece);
        refused = file_update(&opener, bytes.bytes, bytes.length, hash_plain, &plain);
        free(bytes.bytes);
    }
    if (refused == NULL) refused = file_finish(&opener, hash_plain, &plain);
    if (refused == NULL) {
        crypto_hash_sha256_final(&plain.hash, hash);
        printf("opened %zu ", plain.length);
        write_hex(hash, sizeof hash);
    }
    free(key.bytes);
    free(sha256.bytes);
    return refused;
}

static bool print_piece(void *context, const uint8_t *bytes, size_t length) {
    (void)context;
    write_hex(bytes, length);
    return true;
}

refusal answer_sealfile(char **words) {
    struct data key = data(words[0]), plain = data(words[1]);
    printf("sealed ");
    const refusal refused = file_seal(plain.bytes, plain.length, key.bytes, print_piece, NULL);
    free(key.bytes);
    free(plain.bytes);
    return refused;
}
