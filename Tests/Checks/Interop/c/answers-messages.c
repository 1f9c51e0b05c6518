// Answers about messages: opening, statements, sealing.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { MOST_DEVICES = 16 };

static void read_trust(struct trust *trust, char *text) {
    uint8_t key[KEY];
    memset(trust, 0, sizeof *trust);
    char *superseded = cut(text, ';');
    for (char *pin = strcmp(text, "-") == 0 ? NULL : text, *next; pin != NULL; pin = next) {
        next = cut(pin, ',');
        read_key(key, pin, SENDER_PUBLIC);
        if (trust_pin(trust, key) != NULL) broken("a pin is refused");
    }
    for (char *old = strcmp(superseded, "-") == 0 ? NULL : superseded, *next; old != NULL; old = next) {
        next = cut(old, ',');
        char *statement = cut(old, ':');
        struct superseded entry = {.has_end = false};
        struct data bytes = data(statement);
        read_key(key, old, SENDER_PUBLIC);
        memcpy(entry.key, key, KEY);
        if (bytes.length == STATEMENT) superseded_by(&entry, key, bytes.bytes);
        if (trust_supersede(trust, &entry) != NULL) broken("a superseded key is refused");
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
    struct followed again;
    trust_follow(&trust, &again, opened.followed.accepted[0], opened.followed.count, now);
    if (again.count != opened.followed.count) broken("the statements are not accepted again");
    write_trust(&trust);
    fputs(opened.followed.conflict ? " rotation-conflict" : " -", stdout);
    return NULL;
}

refusal answer_open_text(char **words) {
    return answer_open(words, false);
}

refusal answer_open_push(char **words) {
    return answer_open(words, true);
}

refusal answer_statement(char **words) {
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

refusal answer_seal(char **words) {
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
