// Answers about texts: keys, contexts, and envelopes from the outside.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static enum key_kind kind_of(const char *word) {
    if (strcmp(word, "pcr") == 0) return DEVICE_PUBLIC;
    if (strcmp(word, "pcs") == 0) return SENDER_PUBLIC;
    if (strcmp(word, "pcv") == 0) return RECOVERY_PUBLIC;
    if (strcmp(word, "pcr-secret-") == 0) return DEVICE_SECRET;
    return strcmp(word, "pcs-secret-") == 0 ? SENDER_SECRET : RECOVERY_SECRET;
}

refusal answer_key(char **words) {
    const enum key_kind kind = kind_of(words[0]);
    struct data text = data(words[1]);
    uint8_t key[KEY], id[KEY_ID], public[KEY], secret[crypto_sign_SECRETKEYBYTES];
    char again[LONGEST_KEY_TEXT + 1];
    const refusal refused = parse_key(key, (const char *)text.bytes, text.length, kind);
    if (refused == NULL) {
        key_text(again, key, kind);
        if (strncmp(again, (const char *)text.bytes, strlen(again)) != 0) broken("the text of the key is another one");
        printf("ok ");
        write_hex(key, KEY);
        putchar(' ');
        key_id(id, kind == DEVICE_PUBLIC ? X25519 : kind == SENDER_PUBLIC ? ED25519 : RECOVERY, key);
        write_hex(id, kind < DEVICE_SECRET ? KEY_ID : 0);
        putchar(' ');
        if (kind == DEVICE_SECRET) crypto_scalarmult_curve25519_base(public, key);
        if (kind > DEVICE_SECRET) crypto_sign_seed_keypair(public, secret, key);
        write_hex(public, kind >= DEVICE_SECRET ? KEY : 0);
    }
    free(text.bytes);
    return refused;
}

refusal answer_check(char **words) {
    struct data key = data(words[1]);
    const refusal refused = kind_of(words[0]) == DEVICE_PUBLIC ? check_device_key(key.bytes) : check_sender_key(key.bytes);
    free(key.bytes);
    if (refused == NULL) printf("ok");
    return refused;
}

refusal answer_context(char **words) {
    struct data text = data(words[0]);
    const bool good = strlen((const char *)text.bytes) == text.length && is_context((const char *)text.bytes);
    free(text.bytes);
    if (good) printf("ok");
    return good ? NULL : "wrong-topic";
}

refusal answer_text(char **words) {
    struct data text = data(words[0]);
    uint8_t envelope[OUTSIDE + LARGEST_BUCKET];
    char again[LONGEST_TEXT + 1];
    size_t length;
    const refusal refused = decode_envelope(envelope, &length, (const char *)text.bytes, text.length);
    if (refused == NULL) {
        sodium_bin2base64(again, sizeof again, envelope, length, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
        if (strcmp(again, (const char *)text.bytes) != 0) broken("encodes as another text");
        printf("ok ");
        write_hex(envelope + 1, KEY_ID);
        printf(" %zu", length - OUTSIDE);
    }
    free(text.bytes);
    return refused;
}

refusal answer_fingerprint(char **words) {
    struct data text = data(words[0]);
    char hex[9];
    fingerprint(hex, (const char *)text.bytes, text.length);
    printf("ok %s", hex);
    free(text.bytes);
    return NULL;
}
