// Reads questions from standard input, a line each, and answers them with the receiver in C. ../README.md has the language.
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pushcrypt.h"

enum { MOST_WORDS = 12, MOST_DEVICES = 16 };

struct data {
    uint8_t *bytes;
    size_t length;
};

static _Noreturn void broken(const char *why) {
    printf("broken %s\n", why);
    exit(1);
}

static uint8_t *room(size_t length) {
    uint8_t *bytes = malloc(length + 1);
    if (bytes == NULL) broken("no memory");
    return bytes;
}

// The bytes of a word, with a zero byte behind them.
static struct data data(const char *word) {
    const size_t length = strcmp(word, "-") == 0 ? 0 : strlen(word);
    struct data result = {room(length / 2), 0};
    if (sodium_hex2bin(result.bytes, length / 2 + 1, word, length, NULL, &result.length, NULL) != 0) broken("no hexadecimal digits");
    result.bytes[result.length] = 0;
    return result;
}

static void write_hex(const uint8_t *bytes, size_t length) {
    static const char digits[] = "0123456789abcdef";
    if (length == 0) putchar('-');
    for (size_t index = 0; index < length; index++) {
        putchar(digits[bytes[index] >> 4]);
        putchar(digits[bytes[index] & 15]);
    }
}

static void write_text(const char *text) {
    write_hex((const uint8_t *)text, strlen(text));
}

static void write_sender(const uint8_t key[KEY]) {
    char text[LONGEST_KEY_TEXT + 1];
    key_text(text, key, SENDER_PUBLIC);
    fputs(text, stdout);
}

// A key of a vector that has to be good.
static void read_key(uint8_t key[KEY], const char *text, enum key_kind kind) {
    if (parse_key(key, text, strlen(text), kind) != NULL) broken("a key is refused");
}

// Cuts off what stands before the character, and gives the rest; NULL when there is none.
static char *cut(char *text, char character) {
    char *found = strchr(text, character);
    if (found != NULL) *found++ = 0;
    return found;
}

static void read_trust(struct trust *trust, char *text) {
    memset(trust, 0, sizeof *trust);
    char *superseded = cut(text, ';');
    for (char *pin = strcmp(text, "-") == 0 ? NULL : text, *next; pin != NULL; pin = next) {
        next = cut(pin, ',');
        if (trust->pinned_count == TRUST_CAPACITY) broken("too many keys");
        read_key(trust->pinned[trust->pinned_count++], pin, SENDER_PUBLIC);
    }
    for (char *old = strcmp(superseded, "-") == 0 ? NULL : superseded, *next; old != NULL; old = next) {
        next = cut(old, ',');
        char *statement = cut(old, ':');
        if (trust->superseded_count == TRUST_CAPACITY) broken("too many keys");
        struct superseded *entry = &trust->superseded[trust->superseded_count++];
        read_key(entry->key, old, SENDER_PUBLIC);
        struct data bytes = data(statement);
        entry->has_statement = bytes.length == STATEMENT;
        if (entry->has_statement) memcpy(entry->statement, bytes.bytes, STATEMENT);
        free(bytes.bytes);
    }
}

static void write_trust(const struct trust *trust) {
    for (size_t index = 0; index < trust->pinned_count; index++) {
        if (index > 0) putchar(',');
        write_sender(trust->pinned[index]);
    }
    fputs(trust->pinned_count == 0 ? "-;" : ";", stdout);
    for (size_t index = 0; index < trust->superseded_count; index++) {
        const struct superseded *old = &trust->superseded[index];
        if (index > 0) putchar(',');
        write_sender(old->key);
        putchar(':');
        write_hex(old->statement, old->has_statement ? STATEMENT : 0);
    }
    if (trust->superseded_count == 0) putchar('-');
}

static size_t read_devices(struct device_key devices[MOST_DEVICES], char *text) {
    size_t count = 0;
    for (char *device = strcmp(text, "-") == 0 ? NULL : text, *next; device != NULL; device = next) {
        uint8_t secret[KEY];
        next = cut(device, ',');
        const char *end = cut(device, '@');
        if (count == MOST_DEVICES) broken("too many devices");
        read_key(secret, device, DEVICE_SECRET);
        device_key(&devices[count++], secret, end == NULL ? UINT64_MAX : strtoull(end, NULL, 10));
    }
    return count;
}

static enum key_kind kind_of(const char *word) {
    if (strcmp(word, "pcr") == 0) return DEVICE_PUBLIC;
    if (strcmp(word, "pcs") == 0) return SENDER_PUBLIC;
    return strcmp(word, "pcr-secret-") == 0 ? DEVICE_SECRET : SENDER_SECRET;
}

static refusal answer_key(char **words) {
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
        key_id(id, kind == DEVICE_PUBLIC ? X25519 : ED25519, key);
        write_hex(id, kind == DEVICE_PUBLIC || kind == SENDER_PUBLIC ? KEY_ID : 0);
        putchar(' ');
        if (kind == DEVICE_SECRET) crypto_scalarmult_curve25519_base(public, key);
        if (kind == SENDER_SECRET) crypto_sign_seed_keypair(public, secret, key);
        write_hex(public, kind == DEVICE_SECRET || kind == SENDER_SECRET ? KEY : 0);
    }
    free(text.bytes);
    return refused;
}

static refusal answer_check(char **words) {
    struct data key = data(words[1]);
    const refusal refused = kind_of(words[0]) == DEVICE_PUBLIC ? check_device_key(key.bytes) : check_sender_key(key.bytes);
    free(key.bytes);
    if (refused == NULL) printf("ok");
    return refused;
}

static refusal answer_context(char **words) {
    struct data text = data(words[0]);
    const bool good = strlen((const char *)text.bytes) == text.length && is_context((const char *)text.bytes);
    free(text.bytes);
    if (good) printf("ok");
    return good ? NULL : "malformed-context";
}

static refusal answer_text(char **words) {
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

static refusal answer_fingerprint(char **words) {
    struct data text = data(words[0]);
    char hex[9];
    fingerprint(hex, (const char *)text.bytes, text.length);
    printf("ok %s", hex);
    free(text.bytes);
    return NULL;
}

static refusal answer_open(char **words, bool whole_push) {
    struct device_key devices[MOST_DEVICES];
    struct trust trust;
    struct opened opened;
    read_trust(&trust, words[2]);
    const struct receiver receiver = {words[0], devices, read_devices(devices, words[1]), &trust};
    const uint64_t now = strtoull(words[3], NULL, 10);
    // Exactly as long as the bytes, so that the address sanitizer sees what is read beyond them.
    struct data input = data(words[4]);
    uint8_t *exact = room(input.length);
    memcpy(exact, input.bytes, input.length);
    const refusal refused = whole_push ? open_push(&opened, exact, input.length, &receiver, now)
                                       : open_text(&opened, (const char *)exact, input.length, &receiver, now);
    free(exact);
    free(input.bytes);
    if (refused != NULL) return refused;
    printf("opened ");
    write_hex(opened.payload, opened.payload_length);
    putchar(' ');
    write_hex(opened.message_id, MESSAGE_ID);
    printf(" %" PRIu64 " %" PRIu32 " ", opened.sent_at, opened.time_to_live);
    write_sender(opened.sender);
    putchar(' ');
    write_trust(&opened.trust);
    fputs(opened.rotation_conflict ? " rotation-conflict" : " -", stdout);
    return NULL;
}

static refusal answer_open_text(char **words) {
    return answer_open(words, false);
}

static refusal answer_open_push(char **words) {
    return answer_open(words, true);
}

static refusal answer_statement(char **words) {
    struct trust trust;
    bool changed;
    read_trust(&trust, words[0]);
    struct data statement = data(words[2]);
    const refusal refused = trust_evaluate(&trust, &changed, statement.bytes, statement.length, strtoull(words[1], NULL, 10));
    free(statement.bytes);
    if (refused != NULL) return refused;
    printf(changed ? "accepted " : "unchanged ");
    write_trust(&trust);
    return NULL;
}

static refusal answer_seal(char **words) {
    uint8_t device[KEY], seed[KEY], statements[MOST_STATEMENTS + 1][STATEMENT];
    char push[LONGEST_PUSH + 1];
    const char *push_types[] = {[ALERT] = "alert", [BACKGROUND] = "background", [VOIP] = "voip"};
    int push_type = ALERT;
    while (push_type <= VOIP && strcmp(words[5], push_types[push_type]) != 0) push_type++;
    if (push_type > VOIP) return "push-type-not-sealable";
    read_key(device, words[1], DEVICE_PUBLIC);
    read_key(seed, words[2], SENDER_SECRET);
    struct data title = data(words[6]), sound = data(words[7]), message_id = data(words[8]), payload = data(words[10]);
    size_t count = 0;
    for (char *statement = strcmp(words[9], "-") == 0 ? NULL : words[9], *next; statement != NULL; statement = next) {
        next = cut(statement, ',');
        struct data bytes = data(statement);
        if (bytes.length != STATEMENT || count > MOST_STATEMENTS) broken("no statement");
        memcpy(statements[count++], bytes.bytes, STATEMENT);
        free(bytes.bytes);
    }
    const struct message message = {
        .context = words[0],
        .payload = payload.bytes,
        .payload_length = payload.length,
        .sent_at = strtoull(words[3], NULL, 10),
        .time_to_live = (uint32_t)strtoul(words[4], NULL, 10),
        .push_type = (enum push_type)push_type,
        .title = (const char *)title.bytes,
        .sound = sound.length == 0 ? NULL : (const char *)sound.bytes,
        .message_id = message_id.length == 0 ? NULL : message_id.bytes,
        .statements = (const uint8_t(*)[STATEMENT])statements,
        .statement_count = count,
    };
    const refusal refused = seal(push, &message, device, seed);
    if (refused == NULL) {
        printf("sealed ");
        write_text(push);
    }
    free(title.bytes);
    free(sound.bytes);
    free(message_id.bytes);
    free(payload.bytes);
    return refused;
}

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

static refusal answer_reference(char **words) {
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

static refusal answer_attachments(char **words) {
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

static refusal answer_fullbody(char **words) {
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

static void hash_plain(void *context, const uint8_t *bytes, size_t length) {
    struct plain *plain = context;
    crypto_hash_sha256_update(&plain->hash, bytes, length);
    plain->length += length;
}

static refusal answer_file(char **words) {
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

static void print_piece(void *context, const uint8_t *bytes, size_t length) {
    (void)context;
    write_hex(bytes, length);
}

static refusal answer_sealfile(char **words) {
    struct data key = data(words[0]), plain = data(words[1]);
    printf("sealed ");
    file_seal(plain.bytes, plain.length, key.bytes, print_piece, NULL);
    free(key.bytes);
    free(plain.bytes);
    return NULL;
}

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
    {"statement", 3, answer_statement},
    {"seal", 11, answer_seal},
    {"reference", 1, answer_reference},
    {"attachments", 1, answer_attachments},
    {"fullbody", 1, answer_fullbody},
    {"file", 4, answer_file},
    {"sealfile", 2, answer_sealfile},
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
