// The layout and opening of envelopes: Docs/Format.md, "Envelope", "Construction", "Inner plaintext" and "Opening".
//
// There is no replay guard: an app that shows notifications needs its own store of shown messages ("Replay").
#include <string.h>

#include "pushcrypt.h"

const size_t BUCKETS[BUCKET_COUNT] = {256, 512, 1024, 1536, 2048, 2560, 2816, 3584};

void device_key(struct device_key *device, const uint8_t secret[KEY], uint64_t end) {
    memcpy(device->secret, secret, KEY);
    crypto_scalarmult_curve25519_base(device->public, secret);
    key_id(device->id, X25519, device->public);
    device->end = end;
}

// Counts the statements of a body; false and a count of 0 if they are unreadable [O-7.1]. The trust ignores those of an
// unknown version.
static bool count_statements(size_t *count, uint8_t content_type, const uint8_t *body, size_t length) {
    *count = 0;
    if (content_type != STATEMENTS) return true;
    if (length == 0 || body[0] < 1 || body[0] > MOST_STATEMENTS || length < (size_t)1 + STATEMENT * body[0]) return false;
    *count = body[0];
    return true;
}

static refusal open_inner(
    struct opened *opened, uint8_t inner[LARGEST_BUCKET], const uint8_t *envelope, size_t bucket, const struct receiver *receiver,
    uint64_t now);

// Opens a push as received. Reads nothing of it but the envelope [O-0.1]. Refuses more than APNs carries [O-1.1], which
// also bounds the cost of comparing the names of a hostile object.
refusal open_push(struct opened *opened, const uint8_t *push, size_t length, const struct receiver *receiver, uint64_t now) {
    struct json object, text;
    uint8_t envelope[LONGEST_TEXT + 8];
    size_t text_length;
    sodium_memzero(opened, sizeof *opened);
    if (length > LONGEST_PUSH) return "malformed-notification";
    const refusal refused = parse_object(&object, push, length, "malformed-notification");
    if (refused != NULL) return refused;
    if (!json_member(&text, object, "ENCRYPTED_DATA") || !json_is(text, '"')) return "not-encrypted";
    if (!json_string(envelope, sizeof envelope, &text_length, text)) return "malformed-envelope";
    return open_text(opened, (const char *)envelope, text_length, receiver, now);
}

// Opens the text of an envelope: steps 2 to 7. Changes nothing.
refusal open_text(struct opened *opened, const char *text, size_t length, const struct receiver *receiver, uint64_t now) {
    uint8_t envelope[OUTSIDE + LARGEST_BUCKET], inner[LARGEST_BUCKET];
    size_t envelope_length;
    sodium_memzero(opened, sizeof *opened);
    if (!is_context(receiver->context)) return "wrong-topic";
    const refusal malformed = decode_envelope(envelope, &envelope_length, text, length);
    if (malformed != NULL) return malformed;
    const refusal refused = open_inner(opened, inner, envelope, envelope_length - OUTSIDE, receiver, now);
    sodium_memzero(inner, sizeof inner);
    return refused;
}

// Steps 3 to 7. Writes `opened` only on success.
static refusal open_inner(
    struct opened *opened, uint8_t inner[LARGEST_BUCKET], const uint8_t *envelope, size_t bucket, const struct receiver *receiver,
    uint64_t now) {
    const uint8_t *enc = envelope + HEADER;

    // Step 3. Exactly one key is tried [O-3.2].
    const struct device_key *device = NULL;
    for (size_t index = 0; index < receiver->device_count && device == NULL; index++) {
        const struct device_key *key = &receiver->devices[index];
        if (memcmp(key->id, envelope + 1, KEY_ID) == 0 && now <= key->end) device = key;
    }
    if (device == NULL) return "unknown-recipient-key";

    // Step 4.
    struct hpke_context hpke;
    uint8_t info[LONGEST_INFO];
    const size_t info_length = envelope_info(info, envelope, receiver->context);
    if (!hpke_setup_base_r(&hpke, enc, device->secret, device->public, info, info_length)) return "authentication-failed";
    if (!hpke_open(&hpke, inner, envelope + CIPHERTEXT_AT, bucket + TAG)) return "authentication-failed";

    // Step 5.
    const size_t end = BODY_AT + (size_t)number(inner + LENGTH_AT, 2);
    if (end > bucket) return "authentication-failed";
    const uint8_t *statements = inner + BODY_AT + 1, *payload = inner + BODY_AT;
    size_t statement_count;
    const bool readable = count_statements(&statement_count, inner[CONTENT_AT], payload, end - BODY_AT);
    if (statement_count > 0) payload = statements + STATEMENT * statement_count;
    struct trust after;
    struct followed followed;
    const uint8_t *candidates[2 * MOST_KEYS], *sender = NULL;
    size_t count;
    bool is_recovered = false;
    // Once more without recoveries, if nobody signed: they would revoke the key of a phone that was enrolled since.
    do {
        after = *receiver->trust;
        trust_follow(&after, &followed, statements, statement_count, !is_recovered, receiver->context, now);
        count = trust_candidates(candidates, &after, inner, now);
        is_recovered = false;
        for (size_t index = 0; index < followed.count; index++) is_recovered = is_recovered || followed.accepted[index][0] == RECOVERS;
        if (!is_recovered) count += trust_candidates(candidates + count, receiver->trust, inner, now);
        for (size_t index = 0; index < count && sender == NULL; index++) {
            uint8_t data[LONGEST_SIGNED];
            const size_t signed_length = signed_data(data, envelope, device->public, candidates[index], receiver->context, inner, bucket);
            if (verifies(candidates[index], inner + SIGNATURE_AT, data, signed_length)) sender = candidates[index];
        }
    } while (sender == NULL && is_recovered);
    if (count == 0 && followed.recovery_conflict) return "recovery-conflict";
    if (count == 0 && followed.rotation_conflict) return "rotation-conflict";
    if (sender == NULL || !sodium_is_zero(inner + end, bucket - end)) return "authentication-failed";

    // Step 6.
    const uint64_t sent_at = number(inner + SENT_AT, 8);
    const uint32_t time_to_live = (uint32_t)number(inner + LIVE_AT, 4);
    if (inner[CONTENT_AT] != PAYLOAD && inner[CONTENT_AT] != STATEMENTS) return "unsupported-message";
    if (time_to_live < 1 || time_to_live > LONGEST_TIME_TO_LIVE || sent_at > LARGEST_TIME) return "unsupported-message";
    if (now > later(sent_at, time_to_live)) return "expired";
    if (sent_at > later(now, TOLERANCE)) return "not-yet-valid";

    // Step 7.
    struct json object;
    if (!readable) return "malformed-payload";
    const size_t payload_length = (size_t)(inner + end - payload);
    const refusal refused = check_payload(&object, payload, payload_length);
    if (refused != NULL) return refused;
    memcpy(opened->payload, payload, payload_length);
    opened->payload_length = payload_length;
    memcpy(opened->message_id, inner + ID_AT, MESSAGE_ID);
    memcpy(opened->sender, sender, KEY);
    opened->sent_at = sent_at;
    opened->time_to_live = time_to_live;
    opened->device = device;
    opened->followed = followed;
    return NULL;
}

// Decodes an envelope's text [O-2.1] to [O-2.5]. An envelope has exactly one text.
refusal decode_envelope(uint8_t envelope[OUTSIDE + LARGEST_BUCKET], size_t *envelope_length, const char *text, size_t length) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t bits = 0;
    size_t count = 0, bytes = 0;
    if (length < 1 || length > LONGEST_TEXT || length % 4 == 1) return "malformed-envelope";
    for (size_t index = 0; index < length; index++) {
        const char *found = text[index] == 0 ? NULL : strchr(alphabet, text[index]);
        if (found == NULL) return "malformed-envelope";
        bits = bits << 6 | (uint32_t)(found - alphabet);
        count += 6;
        if (count >= 8) {
            count -= 8;
            envelope[bytes++] = (uint8_t)(bits >> count);
        }
    }
    if ((bits & ((1U << count) - 1)) != 0) return "malformed-envelope";
    if (envelope[0] != SUITE) return "unsupported-suite";
    *envelope_length = bytes;
    for (size_t index = 0; index < BUCKET_COUNT; index++)
        if (bytes == OUTSIDE + BUCKETS[index]) return NULL;
    return "malformed-envelope";
}

// Identifies an envelope in a log. Never decide anything by it.
void fingerprint(char hex[9], const char *text, size_t length) {
    uint8_t hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(hash, (const uint8_t *)text, length);
    sodium_bin2hex(hex, 9, hash, 4);
}

// Whether a text is a valid context, the app's bundle id without a suffix [K-2].
bool is_context(const char *context) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-";
    const size_t length = strlen(context);
    return length >= 1 && length <= LONGEST_CONTEXT && strspn(context, allowed) == length;
}

uint8_t *put(uint8_t *at, const void *bytes, size_t length) {
    memcpy(at, bytes, length);
    return at + length;
}

uint8_t *put_number(uint8_t *at, uint64_t value, size_t length) {
    for (size_t index = 0; index < length; index++) at[index] = (uint8_t)(value >> 8 * (length - 1 - index));
    return at + length;
}

static uint8_t *put_lp16(uint8_t *at, const char *text) {
    return put(put_number(at, strlen(text), 2), text, strlen(text));
}

// HPKE's info; returns its length.
size_t envelope_info(uint8_t info[LONGEST_INFO], const uint8_t *header, const char *context) {
    uint8_t *at = put(info, "pushcrypt/1 envelope", 21);
    at = put(at, header, HEADER);
    return (size_t)(put_lp16(at, context) - info);
}

// The bytes that the sender signs; returns their length.
size_t signed_data(
    uint8_t data[LONGEST_SIGNED], const uint8_t *envelope, const uint8_t recipient[KEY], const uint8_t sender[KEY],
    const char *context, const uint8_t *inner, size_t bucket) {
    uint8_t *at = put(data, "pushcrypt/1 signature", 22);
    at = put(at, envelope, HEADER + KEY);
    at = put(at, recipient, KEY);
    at = put(at, sender, KEY);
    at = put_lp16(at, context);
    crypto_hash_sha256(at, inner + CONTENT_AT, bucket - CONTENT_AT);
    return (size_t)(at + crypto_hash_sha256_BYTES - data);
}
