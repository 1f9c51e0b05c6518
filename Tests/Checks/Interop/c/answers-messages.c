// Answers about messages: opening, statements, sealing.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

enum { MOST_DEVICES = 16 };

static void read_superseded(struct sender *sender, char *text) {
    for (char *old = strcmp(text, "-") == 0 ? NULL : text, *next; old != NULL; old = next) {
        next = cut(old, ',');
        struct superseded *entry = &sender->superseded[sender->superseded_count++];
        struct data statement = data(cut(old, ':'));
        read_key(entry->key, old, SENDER_PUBLIC);
        entry->is_revoked = statement.length == 0;
        if (statement.length == STATEMENT) memcpy(entry->statement, statement.bytes, STATEMENT);
        free(statement.bytes);
        if (sender->superseded_count == MOST_SUPERSEDED) broken("too many superseded keys");
    }
}

static void read_sender(struct sender *sender, char *text) {
    char *pinned = cut(text, ';'), *superseded = cut(pinned, ';'), *recovery = cut(superseded, ';'), *last = cut(recovery, ';');
    struct data head = data(last);
    memset(sender, 0, sizeof *sender);
    strncpy(sender->name, text, sizeof sender->name - 1);
    sender->has_pin = strcmp(pinned, "-") != 0;
    if (sender->has_pin) read_key(sender->pinned, pinned, SENDER_PUBLIC);
    read_superseded(sender, superseded);
    for (char *own = strcmp(recovery, "-") == 0 ? NULL : recovery, *next; own != NULL; own = next) {
        next = cut(own, ',');
        if (sender->recovery_count == MOST_RECOVERY_KEYS) broken("too many recovery keys");
        read_key(sender->recovery[sender->recovery_count++], own, RECOVERY_PUBLIC);
    }
    sender->has_recovered = head.length == SIGNED;
    if (sender->has_recovered) memcpy(sender->last_recovery, head.bytes, SIGNED);
    free(head.bytes);
}

static void read_trust(struct trust *trust, char *text) {
    static struct sender sender;
    memset(trust, 0, sizeof *trust);
    for (char *one = strcmp(text, "-") == 0 ? NULL : text, *next; one != NULL; one = next) {
        next = cut(one, '/');
        read_sender(&sender, one);
        if (trust_add(trust, &sender) != NULL) broken("a sender is refused");
    }
}

static void write_one(const struct sender *sender) {
    printf("%s;", sender->name);
    if (sender->has_pin)
        write_public(sender->pinned, SENDER_PUBLIC);
    else
        putchar('-');
    putchar(';');
    for (size_t index = 0; index < sender->superseded_count; index++) {
        const struct superseded *old = &sender->superseded[index];
        if (index > 0) putchar(',');
        write_public(old->key, SENDER_PUBLIC);
        putchar(':');
        write_hex(old->statement, old->is_revoked ? 0 : STATEMENT);
    }
    fputs(sender->superseded_count == 0 ? "-;" : ";", stdout);
    for (size_t index = 0; index < sender->recovery_count; index++) {
        if (index > 0) putchar(',');
        write_public(sender->recovery[index], RECOVERY_PUBLIC);
    }
    fputs(sender->recovery_count == 0 ? "-;" : ";", stdout);
    write_hex(sender->last_recovery, sender->has_recovered ? SIGNED : 0);
}

static void write_trust(const struct trust *trust) {
    for (size_t index = 0; index < trust->count; index++) {
        if (index > 0) putchar('/');
        write_one(&trust->senders[index]);
    }
    if (trust->count == 0) putchar('-');
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
    write_public(opened.sender, SENDER_PUBLIC);
    putchar(' ');
    struct followed again;
    trust_follow(&trust, &again, opened.followed.accepted[0], opened.followed.count, true, words[0], now);
    if (again.count != opened.followed.count) broken("the statements are not accepted again");
    write_trust(&trust);
    const bool rotation = opened.followed.rotation_conflict, recovery = opened.followed.recovery_conflict;
    printf(" %s%s%s", recovery ? "recovery-conflict" : "", recovery && rotation ? "," : "", rotation ? "rotation-conflict" : "");
    if (!rotation && !recovery) putchar('-');
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
    refusal conflict;
    read_trust(&trust, words[0]);
    struct data statement = data(words[3]);
    const uint64_t now = strtoull(words[2], NULL, 10);
    const refusal refused = trust_evaluate(&trust, &changed, &conflict, statement.bytes, statement.length, words[1], now);
    free(statement.bytes);
    if (refused != NULL) return refused;
    printf(changed ? "accepted " : "unchanged ");
    write_trust(&trust);
    printf(" %s", conflict == NULL ? "-" : conflict);
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
    struct data title = data(words[6]), sound = data(words[7]), message_id = data(words[8]), ephemeral = data(words[9]);
    struct data payload = data(words[11]);
    size_t count = 0;
    for (char *statement = strcmp(words[10], "-") == 0 ? NULL : words[10], *next; statement != NULL; statement = next) {
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
        .ephemeral = ephemeral.length == 0 ? NULL : ephemeral.bytes,
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
    free(ephemeral.bytes);
    free(payload.bytes);
    return refused;
}
