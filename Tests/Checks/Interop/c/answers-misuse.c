// What a caller can get wrong, and no file of the kit can ask about: each has to be refused, or to do no harm.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static void must(bool good, const char *what) {
    if (!good) broken(what);
}

static bool is(refusal refused, const char *code) {
    return refused != NULL && strcmp(refused, code) == 0;
}

static void misuse_sealing(const uint8_t device[KEY], const uint8_t seed[KEY]) {
    static const char payload[] = "{\"aps\":{\"alert\":\"a\",\"sound\":\"b\"}}";
    struct message message = {
        .context = "a",
        .payload = (const uint8_t *)payload,
        .payload_length = sizeof payload - 1,
        .time_to_live = 1,
        .title = "a",
    };
    // Exactly as much as it has to be, so that the address sanitizer sees what is written beyond it.
    char *push = (char *)room(LONGEST_PUSH), title[5000];
    must(seal(push, &message, device, seed) == NULL, "nothing wrong");
    memset(title, 0xbf, sizeof title);
    title[sizeof title - 1] = 0;
    message.title = title;
    must(is(seal(push, &message, device, seed), "invalid-request"), "a title that is not UTF-8");
    message.title = NULL;
    must(is(seal(push, &message, device, seed), "invalid-request"), "no title");
    message.title = "a";
    message.sound = "\xbf";
    must(is(seal(push, &message, device, seed), "invalid-request"), "a sound that is not UTF-8");
    message.sound = NULL;
    message.push_type = (enum push_type)(VOIP + 1);
    must(is(seal(push, &message, device, seed), "push-type-not-sealable"), "a push type that does not exist");
    free(push);
}

static void misuse_trust(const uint8_t key[KEY]) {
    static struct trust trust, again;
    static struct sender sender, other;
    const uint8_t statement[STATEMENT] = {0x01};
    bool changed;
    refusal conflict;
    sender.has_pin = true;
    must(is(trust_add(&trust, &sender), "weak-key"), "a pin of zeros");
    memcpy(sender.pinned, key, KEY);
    sender.superseded_count = 1;
    must(is(trust_add(&trust, &sender), "weak-key"), "a superseded key of zeros");
    memcpy(sender.superseded[0].key, key, KEY);
    must(is(trust_add(&trust, &sender), "sender-superseded"), "a key that is pinned and superseded");
    sender.superseded_count = 0;
    sender.recovery_count = 1;
    must(is(trust_add(&trust, &sender), "weak-key"), "a recovery key of zeros");
    sender.recovery_count = MOST_RECOVERY_KEYS + 1;
    must(is(trust_add(&trust, &sender), "corrupt-store"), "three recovery keys");
    sender.recovery_count = 0;
    memset(sender.name, 'a', sizeof sender.name);
    must(is(trust_add(&trust, &sender), "corrupt-store"), "a name without an end");
    sender.name[1] = 0;
    must(trust_add(&trust, &sender) == NULL, "nothing wrong with a sender");
    other.recovery_count = 1;
    memcpy(other.recovery[0], key, KEY);
    must(is(trust_add(&trust, &other), "sender-superseded") && trust.count == 1, "a key that is a sender's and a recovery key");
    sender.has_pin = false;
    sender.superseded_count = 1;
    memcpy(sender.superseded[0].statement, statement, STATEMENT);
    must(trust_add(&again, &sender) == NULL, "a sender without a pin");
    const refusal refused = trust_evaluate(&again, &changed, &conflict, statement, STATEMENT, "a", 0);
    must(refused == NULL && !changed && conflict == NULL, "the same statement of a sender without a pin");
}

static bool full_disk(void *context, const uint8_t *bytes, size_t length) {
    (void)context, (void)bytes, (void)length;
    return false;
}

static void misuse_files(void) {
    static struct file_opener opener;
    uint8_t zeros[KEY] = {0}, *sealed = room(46);
    memset(sealed, 0, 46);
    file_open(&opener, zeros, 46, zeros);
    must(is(file_update(&opener, sealed, 46, full_disk, NULL), "not-a-sealed-file"), "what is no file");
    must(is(file_update(&opener, sealed, 0, full_disk, NULL), "malformed-file"), "a file after it was refused");
    must(is(file_finish(&opener, full_disk, NULL), "malformed-file"), "the end of a file after it was refused");
    must(is(file_seal(sealed, 46, zeros, full_disk, NULL), "not-written"), "a full disk");
    free(sealed);
}

static void misuse_opening(void) {
    static const struct trust trust;
    const struct receiver receiver = {"a", NULL, 0, &trust};
    struct opened *opened = (struct opened *)room(sizeof *opened);
    memset(opened, 0xff, sizeof *opened);
    must(is(open_push(opened, (const uint8_t *)"{}", 2, &receiver, 0), "not-encrypted"), "what is no push");
    must(sodium_is_zero((const uint8_t *)opened, sizeof *opened), "what a message that was refused leaves");
    free(opened);
}

refusal answer_misuse(char **words) {
    uint8_t device[KEY], seed[KEY], sender[KEY], secret[crypto_sign_SECRETKEYBYTES];
    read_key(device, words[0], DEVICE_PUBLIC);
    read_key(seed, words[1], SENDER_SECRET);
    crypto_sign_seed_keypair(sender, secret, seed);
    misuse_sealing(device, seed);
    misuse_trust(sender);
    misuse_files();
    misuse_opening();
    printf("ok");
    return NULL;
}
