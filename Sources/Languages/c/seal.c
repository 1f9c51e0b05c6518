// Sealing a payload for one device: Docs/Format.md, "Clear part", "Size" and "Sealing".
//
// It uses plain randomness, which the format allows: a clone of a running machine may repeat an ephemeral key; the
// Swift sealer hedges against this. No field of `aps` is kept in the clear, and a sound is named there only if the
// payload has one. Violations of Apple's rules for payloads are not refused.
#include <stdio.h>
#include <string.h>

#include "pushcrypt.h"

// For each push type, the most bytes that APNs accepts, and the largest bucket.
static const struct {
    size_t push, bucket;
} LIMITS[] = {[ALERT] = {4096, 2816}, [BACKGROUND] = {4096, 2816}, [VOIP] = {5120, 3584}};

// A text being written, its length in the longest form that a client may write [S-4], and whether it fits.
struct writer {
    char *at, *end;
    size_t widest;
    bool fits, inside_string;
};

static void write_byte(struct writer *writer, char byte, size_t widest) {
    writer->fits = writer->fits && writer->at < writer->end;
    if (writer->fits) *writer->at++ = byte;
    writer->widest += widest;
}

// Writes JSON without escapes, and strings whose characters all count 1.
static void write_json(struct writer *writer, const char *json) {
    for (; *json != 0; json++) {
        if (*json == '"') writer->inside_string = !writer->inside_string;
        write_byte(writer, *json, !writer->inside_string && (*json == ',' || *json == ':') ? 2 : 1);
    }
}

// Writes a string's characters: UTF-8, with JSON's required escapes.
static void write_text(struct writer *writer, const char *text) {
    for (; *text != 0; text++) {
        const uint8_t byte = (uint8_t)*text;
        if (byte < 0x20) {
            char escape[7];
            snprintf(escape, sizeof escape, "\\u%04x", byte);
            for (size_t index = 0; index < 6; index++) write_byte(writer, escape[index], 1);
        } else if (byte == '"' || byte == '\\') {
            write_byte(writer, '\\', 6);
            write_byte(writer, *text, 0);
        } else if (byte >= 0x80) {
            // The first byte counts for the whole character.
            write_byte(writer, *text, byte < 0xc0 ? 0 : byte < 0xf0 ? 6 : 12);
        } else {
            write_byte(writer, *text, strchr("<>&'+=`\x7f", byte) != NULL ? 6 : byte == '/' ? 2 : 1);
        }
    }
}

// The text before the envelope. With `"}` after the envelope, it is all that the relay sees of a push.
static void write_clear_part(struct writer *writer, const struct message *message, struct json aps) {
    struct json value;
    const bool wakes = json_member(&value, aps, "content-available") && json_equals(value, "1");
    const bool sounds = message->sound != NULL && json_member(&value, aps, "sound") && !json_equals(value, "null");
    write_json(writer, "{\"aps\":{");
    if (message->push_type == ALERT) {
        write_json(writer, "\"mutable-content\":1,\"alert\":{\"title\":\"");
        write_text(writer, message->title);
        write_json(writer, "\",\"body\":\"(Encrypted)\"}");
        if (sounds) {
            write_json(writer, ",\"sound\":\"");
            write_text(writer, message->sound);
            write_json(writer, "\"");
        }
    }
    if (wakes && message->push_type == ALERT) write_json(writer, ",");
    if (wakes || message->push_type == BACKGROUND) write_json(writer, "\"content-available\":1");
    write_json(writer, "},\"ENCRYPTED_DATA\":\"");
}

static bool is_text(const char *text) {
    return text != NULL && is_utf8((const uint8_t *)text, strlen(text));
}

// Checks a message and computes the length of its body.
static refusal check(size_t *body_length, struct json *aps, uint8_t *minified, const struct message *message) {
    struct json payload, member;
    if ((unsigned)message->push_type > VOIP) return "push-type-not-sealable";
    if (!is_text(message->title) || (message->sound != NULL && !is_text(message->sound))) return "invalid-request";
    if (message->payload_length > LONGEST_PAYLOAD) return "payload-too-large";
    const refusal refused = check_payload(&payload, message->payload, message->payload_length);
    if (refused != NULL) return refused;
    if (json_member(&member, payload, "ENCRYPTED_DATA") || json_member(&member, payload, "pushcrypt")) return "reserved-key";
    json_member(aps, payload, "aps");
    if (message->time_to_live < 1 || message->time_to_live > LONGEST_TIME_TO_LIVE) return "invalid-time";
    if (message->sent_at > LARGEST_TIME) return "invalid-time";
    if (message->statement_count > MOST_STATEMENTS) return "invalid-request";
    *body_length = json_minify(minified, message->payload, message->payload_length);
    if (message->statement_count > 0) *body_length += 1 + STATEMENT * message->statement_count;
    return NULL;
}

static refusal seal_minified(
    char push[LONGEST_PUSH + 1], uint8_t minified[LONGEST_PAYLOAD], const struct message *message, const uint8_t device[KEY],
    const uint8_t seed[KEY]) {
    size_t body_length, bucket = 0;
    struct json aps;
    if (!is_context(message->context)) return "wrong-topic";
    if (check_device_key(device) != NULL) return "weak-key";
    const refusal refused = check(&body_length, &aps, minified, message);
    if (refused != NULL) return refused;
    for (size_t index = BUCKET_COUNT; index-- > 0;)
        if (BODY_AT + body_length <= BUCKETS[index] && BUCKETS[index] <= LIMITS[message->push_type].bucket) bucket = BUCKETS[index];
    if (bucket == 0) return "payload-too-large";
    struct writer writer = {push, push + LONGEST_PUSH, 0, true, false};
    write_clear_part(&writer, message, aps);
    const size_t text_length = (4 * (OUTSIDE + bucket) + 2) / 3;
    if (!writer.fits || writer.widest + text_length + 2 > LIMITS[message->push_type].push) return "push-too-large";
    // The longest form is never shorter than the written text, but no write relies on this.
    if ((size_t)(writer.end - writer.at) < text_length + 2) return "push-too-large";

    uint8_t envelope[OUTSIDE + LARGEST_BUCKET], inner[LARGEST_BUCKET] = {0}, info[LONGEST_INFO], data[LONGEST_SIGNED];
    uint8_t sender_public[KEY], sender_secret[crypto_sign_SECRETKEYBYTES];
    struct hpke_context hpke;
    crypto_sign_seed_keypair(sender_public, sender_secret, seed);
    envelope[0] = SUITE;
    key_id(envelope + 1, X25519, device);
    key_id(inner, ED25519, sender_public);
    inner[CONTENT_AT] = message->statement_count > 0 ? STATEMENTS : PAYLOAD;
    if (message->message_id != NULL)
        memcpy(inner + ID_AT, message->message_id, MESSAGE_ID);
    else
        randombytes_buf(inner + ID_AT, MESSAGE_ID);
    uint8_t *at = put_number(inner + SENT_AT, message->sent_at, 8);
    at = put_number(at, message->time_to_live, 4);
    at = put_number(at, body_length, 2);
    if (message->statement_count > 0) at = put_number(at, message->statement_count, 1);
    for (size_t index = 0; index < message->statement_count; index++) at = put(at, message->statements[index], STATEMENT);
    put(at, minified, (size_t)(inner + BODY_AT + body_length - at));
    const size_t info_length = envelope_info(info, envelope, message->context);
    const bool encapsulated = hpke_setup_base_s(&hpke, envelope + HEADER, device, info, info_length, message->ephemeral);
    if (encapsulated) {
        const size_t signed_length = signed_data(data, envelope, device, sender_public, message->context, inner, bucket);
        crypto_sign_detached(inner + SIGNATURE_AT, NULL, data, signed_length, sender_secret);
        hpke_seal(&hpke, envelope + CIPHERTEXT_AT, inner, bucket);
        sodium_bin2base64(
            writer.at, text_length + 1, envelope, OUTSIDE + bucket, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
        memcpy(writer.at + text_length, "\"}", 3);
    }
    sodium_memzero(sender_secret, sizeof sender_secret);
    sodium_memzero(inner, sizeof inner);
    return encapsulated ? NULL : "weak-key";
}

// Seals a payload for one device. The result is the push to send instead of the payload, with a terminating zero byte.
refusal seal(char push[LONGEST_PUSH + 1], const struct message *message, const uint8_t device[KEY], const uint8_t seed[KEY]) {
    uint8_t minified[LONGEST_PAYLOAD];
    const refusal refused = seal_minified(push, minified, message, device, seed);
    sodium_memzero(minified, sizeof minified);
    return refused;
}
