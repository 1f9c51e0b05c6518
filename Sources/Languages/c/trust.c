// A receiver's trust in senders, and its changes: Docs/FormatRotation.md, rules to.
#include <string.h>

#include "pushcrypt.h"

enum { KEY_ID_AT = 1, NEW_KEY = 5, ISSUED_AT = 37, ACCEPT_FOR = 45, OVERLAP = 49, SERIAL = 49 };
enum { FIRST_SIGNATURE = 53, SECOND_SIGNATURE = 117 };
enum { OLD_ROLE = 0x01, NEW_ROLE = 0x02, RECOVERY_ROLE = 0x03 };
#define LARGEST_OVERLAP 5184000

// The outcome for one sender: no code if it changed, or if nothing changes; else a code and its rule.
struct outcome {
    refusal code;
    int rule;
    bool changed;
};

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

// Ed25519 by [K-9]. libsodium requires S < L, compares the bytes of R, and refuses an R of small order, among them the
// identity.
bool verifies(const uint8_t key[KEY], const uint8_t *signature, const uint8_t *data, size_t length) {
    return crypto_sign_verify_detached(signature, data, length, key) == 0;
}

static bool is_conflict(refusal code) {
    return code != NULL && (strcmp(code, "rotation-conflict") == 0 || strcmp(code, "recovery-conflict") == 0);
}

static bool has_id(enum key_type type, const uint8_t key[KEY], const uint8_t id[KEY_ID]) {
    uint8_t own[KEY_ID];
    key_id(own, type, key);
    return memcmp(own, id, KEY_ID) == 0;
}

static uint32_t serial_of(const struct sender *sender) {
    return sender->has_recovered ? (uint32_t)number(sender->last_recovery + SERIAL, 4) : 0;
}

static bool is_pin(const struct sender *sender, const uint8_t key[KEY]) {
    return sender->has_pin && memcmp(sender->pinned, key, KEY) == 0;
}

static bool is_past(const struct sender *sender, const uint8_t key[KEY]) {
    for (size_t index = 0; index < sender->superseded_count; index++)
        if (memcmp(sender->superseded[index].key, key, KEY) == 0) return true;
    return false;
}

static bool is_revoked(const struct trust *trust, const uint8_t key[KEY]) {
    for (size_t index = 0; index < trust->count; index++) {
        const struct sender *sender = &trust->senders[index];
        for (size_t past = 0; past < sender->superseded_count; past++)
            if (sender->superseded[past].is_revoked && memcmp(sender->superseded[past].key, key, KEY) == 0) return true;
    }
    return false;
}

static bool is_recovery_key(const struct trust *trust, const uint8_t key[KEY]) {
    for (size_t index = 0; index < trust->count; index++)
        for (size_t own = 0; own < trust->senders[index].recovery_count; own++)
            if (memcmp(trust->senders[index].recovery[own], key, KEY) == 0) return true;
    return false;
}

static bool may_pin(const struct trust *trust, const struct sender *sender, const uint8_t key[KEY]) {
    return !is_past(sender, key) && !is_revoked(trust, key) && !is_recovery_key(trust, key);
}

// Adds a sender, behind the others. `trust-full` is not a code of the format: this receiver stores a limited number of
// keys.
refusal trust_add(struct trust *trust, const struct sender *sender) {
    if (trust->count == MOST_SENDERS || sender->superseded_count > MOST_SUPERSEDED) return "trust-full";
    if (sender->recovery_count > MOST_RECOVERY_KEYS || memchr(sender->name, 0, sizeof sender->name) == NULL) return "corrupt-store";
    struct sender *added = &trust->senders[trust->count];
    *added = *sender;
    if (sender->has_pin && check_sender_key(sender->pinned) != NULL) return "weak-key";
    for (size_t index = 0; index < sender->recovery_count; index++)
        if (check_sender_key(sender->recovery[index]) != NULL) return "weak-key";
    added->superseded_count = 0;
    for (size_t index = 0; index < sender->superseded_count; index++) {
        const uint8_t *key = sender->superseded[index].key;
        if (check_sender_key(key) != NULL) return "weak-key";
        if (is_pin(sender, key) || is_past(added, key)) return "sender-superseded";
        added->superseded_count++;
    }
    trust->count++;
    for (size_t index = 0; index < trust->count; index++) {
        const struct sender *other = &trust->senders[index];
        bool two_uses = other->has_pin && is_recovery_key(trust, other->pinned);
        for (size_t past = 0; past < other->superseded_count; past++)
            two_uses = two_uses || is_recovery_key(trust, other->superseded[past].key);
        if (two_uses) return trust->count--, "sender-superseded";
    }
    return NULL;
}

// The keys under which a message with the sender key id may verify; they point into `trust`. Returns their number.
size_t trust_candidates(const uint8_t *candidates[MOST_KEYS], const struct trust *trust, const uint8_t id[KEY_ID], uint64_t now) {
    size_t count = 0;
    for (size_t index = 0; index < trust->count; index++) {
        const struct sender *sender = &trust->senders[index];
        if (sender->has_pin && has_id(ED25519, sender->pinned, id)) candidates[count++] = sender->pinned;
        for (size_t past = 0; past < sender->superseded_count; past++) {
            const struct superseded *old = &sender->superseded[past];
            const uint64_t issued_at = number(old->statement + ISSUED_AT, 8);
            const bool overlaps = !old->is_revoked && now <= later(issued_at, (uint32_t)number(old->statement + OVERLAP, 4));
            if (overlaps && has_id(ED25519, old->key, id)) candidates[count++] = old->key;
        }
    }
    size_t kept = 0;
    for (size_t index = 0; index < count; index++)
        if (!is_revoked(trust, candidates[index])) candidates[kept++] = candidates[index];
    return kept;
}

// Whether the key of a role signed a rotation.
static bool rotation_signed(
    const uint8_t key[KEY], uint8_t role, const uint8_t *signature, const uint8_t *statement, const uint8_t old[KEY]) {
    static const char label[] = "pushcrypt/1 rotation";
    uint8_t data[sizeof label + 1 + KEY + SIGNED], *at = put(data, label, sizeof label);
    at = put_number(at, role, 1);
    at = put(at, old, KEY);
    at = put(at, statement, SIGNED);
    return verifies(key, signature, data, (size_t)(at - data));
}

// Whether the key of a role signed a recovery for the context.
static bool recovery_signed(
    const uint8_t key[KEY], uint8_t role, const uint8_t *signature, const uint8_t *statement, const uint8_t recovery[KEY],
    const char *context) {
    static const char label[] = "pushcrypt/1 recovery";
    uint8_t data[sizeof label + 1 + KEY + 2 + LONGEST_CONTEXT + SIGNED], *at = put(data, label, sizeof label);
    at = put_number(at, role, 1);
    at = put(at, recovery, KEY);
    at = put_number(at, strlen(context), 2);
    at = put(at, context, strlen(context));
    at = put(at, statement, SIGNED);
    return verifies(key, signature, data, (size_t)(at - data));
}

// A sender after a rotation to.
static struct outcome rotate(struct sender *sender, const struct trust *trust, const uint8_t *statement, uint64_t now) {
    const uint8_t *added = statement + NEW_KEY, *old = NULL;
    bool known = false;
    for (size_t index = 0; index < sender->superseded_count; index++) {
        const struct superseded *past = &sender->superseded[index];
        if (!past->is_revoked && memcmp(past->statement, statement, SIGNED) == 0) return (struct outcome){.code = NULL};
    }
    for (size_t index = 0; index <= sender->superseded_count && old == NULL; index++) {
        if (index == 0 && !sender->has_pin) continue;
        const uint8_t *key = index == 0 ? sender->pinned : sender->superseded[index - 1].key;
        if (!has_id(ED25519, key, statement + KEY_ID_AT)) continue;
        known = true;
        if (rotation_signed(key, OLD_ROLE, statement + FIRST_SIGNATURE, statement, key)) old = key;
    }
    if (!known) return (struct outcome){"untrusted-old-key", 3, false};
    if (old == NULL) return (struct outcome){"bad-statement-signature", 4, false};
    if (check_sender_key(added) != NULL) return (struct outcome){"weak-key", 5, false};
    if (!rotation_signed(added, NEW_ROLE, statement + SECOND_SIGNATURE, statement, old)) return (struct outcome){"bad-statement-signature", 6, false};
    if (is_revoked(trust, old)) return (struct outcome){"untrusted-old-key", 7, false};
    if (!is_pin(sender, old)) return (struct outcome){"rotation-conflict", 7, false};
    if (memcmp(added, old, KEY) == 0 || !may_pin(trust, sender, added)) return (struct outcome){"superseded-new-key", 8, false};
    const uint64_t issued_at = number(statement + ISSUED_AT, 8);
    if (number(statement + OVERLAP, 4) > LARGEST_OVERLAP) return (struct outcome){"overlap-too-long", 9, false};
    if (issued_at > later(now, TOLERANCE)) return (struct outcome){"statement-not-yet-valid", 10, false};
    if (now > later(issued_at, (uint32_t)number(statement + ACCEPT_FOR, 4))) return (struct outcome){"statement-expired", 11, false};
    // The last place is for a recovery, which a thief's rotations must not keep out.
    if (sender->superseded_count >= MOST_SUPERSEDED - 1) return (struct outcome){"trust-full", 12, false};

    struct superseded *past = &sender->superseded[sender->superseded_count++];
    *past = (struct superseded){.is_revoked = false};
    memcpy(past->key, sender->pinned, KEY);
    memcpy(past->statement, statement, STATEMENT);
    memcpy(sender->pinned, added, KEY);
    return (struct outcome){.changed = true};
}

// A sender after a recovery to. No clock decides.
static struct outcome recover(struct sender *sender, const struct trust *trust, const uint8_t *statement, const char *context) {
    const uint8_t *added = statement + NEW_KEY, *recovery = NULL;
    const uint32_t serial = (uint32_t)number(statement + SERIAL, 4);
    bool known = false;
    for (size_t index = 0; index < sender->recovery_count && recovery == NULL && sender->has_pin; index++) {
        const uint8_t *key = sender->recovery[index];
        if (!has_id(RECOVERY, key, statement + KEY_ID_AT)) continue;
        known = true;
        if (recovery_signed(key, RECOVERY_ROLE, statement + FIRST_SIGNATURE, statement, key, context)) recovery = key;
    }
    if (!known) return (struct outcome){"unknown-recovery-key", 15, false};
    if (recovery == NULL) return (struct outcome){"bad-statement-signature", 16, false};
    if (check_sender_key(added) != NULL) return (struct outcome){"weak-key", 17, false};
    if (!recovery_signed(added, NEW_ROLE, statement + SECOND_SIGNATURE, statement, recovery, context))
        return (struct outcome){"bad-statement-signature", 18, false};
    const bool is_same = sender->has_recovered && memcmp(sender->last_recovery, statement, SIGNED) == 0;
    if (serial < serial_of(sender) || is_same) return (struct outcome){.code = NULL};
    if (serial == serial_of(sender)) return (struct outcome){"recovery-conflict", 19, false};
    if (!may_pin(trust, sender, added)) return (struct outcome){"superseded-new-key", 20, false};
    if (sender->superseded_count == MOST_SUPERSEDED) return (struct outcome){"trust-full", 21, false};

    for (size_t index = 0; index < sender->superseded_count; index++) sender->superseded[index].is_revoked = true;
    if (memcmp(sender->pinned, added, KEY) != 0) {
        struct superseded *past = &sender->superseded[sender->superseded_count++];
        *past = (struct superseded){.is_revoked = true};
        memcpy(past->key, sender->pinned, KEY);
        memcpy(sender->pinned, added, KEY);
    }
    memcpy(sender->last_recovery, statement, SIGNED);
    sender->has_recovered = true;
    return (struct outcome){.changed = true};
}

// Evaluates statements in order, at most 4; ignores one that fails.
void trust_follow(
    struct trust *trust, struct followed *followed, const uint8_t *statements, size_t count, bool with_recoveries, const char *context,
    uint64_t now) {
    *followed = (struct followed){.count = 0};
    for (size_t index = 0; index < count && index < MOST_STATEMENTS; index++) {
        bool changed;
        refusal conflict;
        const uint8_t *statement = statements + STATEMENT * index;
        if (statement[0] == RECOVERS && !with_recoveries) continue;
        const refusal refused = trust_evaluate(trust, &changed, &conflict, statement, STATEMENT, context, now);
        const refusal told = is_conflict(refused) ? refused : conflict;
        followed->rotation_conflict = followed->rotation_conflict || (told != NULL && strcmp(told, "rotation-conflict") == 0);
        followed->recovery_conflict = followed->recovery_conflict || (told != NULL && strcmp(told, "recovery-conflict") == 0);
        if (changed) memcpy(followed->accepted[followed->count++], statement, STATEMENT);
    }
}

// Follows a statement, or refuses it and changes nothing. Each sender is evaluated separately.
//
// `changed` is whether something changed, `conflict` one that the statement raises nevertheless, or NULL.
refusal trust_evaluate(
    struct trust *trust, bool *changed, refusal *conflict, const uint8_t *statement, size_t length, const char *context, uint64_t now) {
    struct trust after = *trust;
    struct outcome furthest = {NULL, 0, false};
    bool unchanged = false;
    *changed = false;
    *conflict = NULL;
    if (!is_context(context)) return "wrong-topic";
    if (length != STATEMENT || (statement[0] != ROTATES && statement[0] != RECOVERS)) return "malformed-statement";
    if (statement[0] == RECOVERS && number(statement + SERIAL, 4) == 0) return "malformed-statement";
    for (size_t index = 0; index < trust->count; index++) {
        struct sender *sender = &after.senders[index];
        const struct outcome outcome =
            statement[0] == ROTATES ? rotate(sender, trust, statement, now) : recover(sender, trust, statement, context);
        if (outcome.code != NULL && outcome.rule > furthest.rule) furthest = outcome;
        if (is_conflict(outcome.code)) *conflict = outcome.code;
        *changed = *changed || outcome.changed;
        unchanged = unchanged || (outcome.code == NULL && !outcome.changed);
    }
    if (*changed) return *trust = after, NULL;
    if (*conflict != NULL) return *conflict;
    if (unchanged) return NULL;
    if (furthest.code != NULL) return furthest.code;
    return statement[0] == ROTATES ? "untrusted-old-key" : "unknown-recovery-key";
}
