// A receiver's trust in senders, and its changes: Docs/FormatRotation.md, rules to.
#include <string.h>

#include "pushcrypt.h"

enum { OLD_ID = 1, NEW_KEY = 5, ISSUED_AT = 37, ACCEPT_FOR = 45, OVERLAP = 49, OLD_SIGNATURE = 53, NEW_SIGNATURE = 117 };
#define LARGEST_OVERLAP 5184000

// A big-endian integer of at most 8 bytes.
uint64_t number(const uint8_t *bytes, size_t length) {
    uint64_t result = 0;
    for (size_t index = 0; index < length; index++) result = result << 8 | bytes[index];
    return result;
}

// Adds a duration in seconds to a time; the result is at most the largest 64-bit time [K-3].
uint64_t later(uint64_t time, uint32_t seconds) {
    const uint64_t milliseconds = UINT64_C(1000) * seconds;
    return time > UINT64_MAX - milliseconds ? UINT64_MAX : time + milliseconds;
}

static bool has_id(const uint8_t key[KEY], const uint8_t id[KEY_ID]) {
    uint8_t own[KEY_ID];
    key_id(own, ED25519, key);
    return memcmp(own, id, KEY_ID) == 0;
}

static const struct superseded *find_superseded(const struct trust *trust, const uint8_t key[KEY]) {
    for (size_t index = 0; index < trust->superseded_count; index++)
        if (memcmp(trust->superseded[index].key, key, KEY) == 0) return &trust->superseded[index];
    return NULL;
}

static size_t find_pinned(const struct trust *trust, const uint8_t key[KEY]) {
    size_t index = 0;
    while (index < trust->pinned_count && memcmp(trust->pinned[index], key, KEY) != 0) index++;
    return index;
}

// A key superseded by the statement.
void superseded_by(struct superseded *old, const uint8_t key[KEY], const uint8_t statement[STATEMENT]) {
    const uint64_t end = later(number(statement + ISSUED_AT, 8), (uint32_t)number(statement + OVERLAP, 4));
    *old = (struct superseded){.has_end = true, .has_statement = true, .verifies_until = end};
    memcpy(old->key, key, KEY);
    memcpy(old->statement, statement, STATEMENT);
}

// Adds a key that the app pins. `trust-full` is not a code of the format: this receiver stores a limited number of
// keys.
refusal trust_pin(struct trust *trust, const uint8_t key[KEY]) {
    if (check_sender_key(key) != NULL) return "weak-key";
    if (find_superseded(trust, key) != NULL) return "sender-superseded";
    if (trust->pinned_count == TRUST_CAPACITY) return "trust-full";
    memcpy(trust->pinned[trust->pinned_count++], key, KEY);
    return NULL;
}

// Adds a superseded key.
refusal trust_supersede(struct trust *trust, const struct superseded *old) {
    if (check_sender_key(old->key) != NULL) return "weak-key";
    if (find_pinned(trust, old->key) < trust->pinned_count) return "sender-superseded";
    if (trust->superseded_count == TRUST_CAPACITY) return "trust-full";
    trust->superseded[trust->superseded_count++] = *old;
    return NULL;
}

// Finds the keys with a sender key id: pinned ones first, then superseded ones, at most 4.
static size_t keys_of(const uint8_t *keys[TRIED], const struct trust *trust, const uint8_t id[KEY_ID], bool all, uint64_t now) {
    size_t count = 0;
    for (size_t index = 0; index < trust->pinned_count && count < TRIED; index++)
        if (has_id(trust->pinned[index], id)) keys[count++] = trust->pinned[index];
    for (size_t index = 0; index < trust->superseded_count && count < TRIED; index++) {
        const struct superseded *old = &trust->superseded[index];
        if ((all || (old->has_end && now <= old->verifies_until)) && has_id(old->key, id)) keys[count++] = old->key;
    }
    return count;
}

// The keys under which a message with the sender key id may verify; they point into `trust`.
size_t trust_candidates(const uint8_t *candidates[TRIED], const struct trust *trust, const uint8_t id[KEY_ID], uint64_t now) {
    return keys_of(candidates, trust, id, false, now);
}

// Whether the key of a role signed the statement: 0x01 for the old key, 0x02 for the new one. libsodium requires S < L.
static bool signed_by(
    const uint8_t key[KEY], uint8_t role, const uint8_t *signature, const uint8_t *statement, const uint8_t old[KEY]) {
    static const char label[] = "pushcrypt/1 rotation";
    uint8_t data[sizeof label + 1 + KEY + OLD_SIGNATURE];
    memcpy(data, label, sizeof label);
    data[sizeof label] = role;
    memcpy(data + sizeof label + 1, old, KEY);
    memcpy(data + sizeof label + 1 + KEY, statement, OLD_SIGNATURE);
    return crypto_sign_verify_detached(signature, data, sizeof data, key) == 0;
}

// Evaluates statements in order, at most 4; ignores one that fails.
void trust_follow(struct trust *trust, struct followed *followed, const uint8_t *statements, size_t count, uint64_t now) {
    *followed = (struct followed){.count = 0};
    for (size_t index = 0; index < count && index < MOST_STATEMENTS; index++) {
        bool changed;
        const uint8_t *statement = statements + STATEMENT * index;
        const refusal refused = trust_evaluate(trust, &changed, statement, STATEMENT, now);
        followed->conflict = followed->conflict || (refused != NULL && strcmp(refused, "rotation-conflict") == 0);
        if (changed) memcpy(followed->accepted[followed->count++], statement, STATEMENT);
    }
}

// Follows a statement, or refuses it and changes nothing. `changed` is false if it was followed before.
refusal trust_evaluate(struct trust *trust, bool *changed, const uint8_t *statement, size_t length, uint64_t now) {
    *changed = false;
    if (length != STATEMENT || statement[0] != 0x01) return "malformed-statement";
    for (size_t index = 0; index < trust->superseded_count; index++) {
        const struct superseded *old = &trust->superseded[index];
        if (old->has_statement && memcmp(old->statement, statement, STATEMENT) == 0) return NULL;
    }
    const uint8_t *added = statement + NEW_KEY, *keys[TRIED], *old = NULL;
    const size_t count = keys_of(keys, trust, statement + OLD_ID, true, now);
    if (count == 0) return "untrusted-old-key";
    for (size_t index = 0; index < count && old == NULL; index++)
        if (signed_by(keys[index], 0x01, statement + OLD_SIGNATURE, statement, keys[index])) old = keys[index];
    if (old == NULL) return "bad-statement-signature";
    if (check_sender_key(added) != NULL) return "weak-key";
    if (!signed_by(added, 0x02, statement + NEW_SIGNATURE, statement, old)) return "bad-statement-signature";
    const size_t place = find_pinned(trust, old);
    if (place == trust->pinned_count) return find_superseded(trust, old)->has_statement ? "rotation-conflict" : "untrusted-old-key";
    if (memcmp(added, old, KEY) == 0 || find_superseded(trust, added) != NULL) return "superseded-new-key";
    const uint64_t issued_at = number(statement + ISSUED_AT, 8);
    if (number(statement + OVERLAP, 4) > LARGEST_OVERLAP) return "overlap-too-long";
    if (issued_at > later(now, TOLERANCE)) return "statement-not-yet-valid";
    if (now > later(issued_at, (uint32_t)number(statement + ACCEPT_FOR, 4))) return "statement-expired";
    if (trust->superseded_count == TRUST_CAPACITY) return "trust-full";

    superseded_by(&trust->superseded[trust->superseded_count++], old, statement);
    if (find_pinned(trust, added) == trust->pinned_count) {
        memcpy(trust->pinned[place], added, KEY);
    } else {
        memmove(trust->pinned[place], trust->pinned[--trust->pinned_count], KEY);
    }
    *changed = true;
    return NULL;
}
