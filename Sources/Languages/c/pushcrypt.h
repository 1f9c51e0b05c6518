// A reference receiver of the pushcrypt format in C11 on libsodium 1.0.18. Each part is a file: keys.c, payload.c,
// trust.c, envelope.c, attachments.c. Call `sodium_init` first.
//
// A function that can refuse returns NULL or the code of Docs/Format.md, for the developer's log, never for the user.
// Bytes are a pointer and a length; no pointer is kept except where stated. Secrets derived or copied here are wiped,
// and libsodium computes on keys and compares tags in constant time. The rest is not constant-time. The caller must
// wipe its own secrets and those returned to it.
#ifndef PUSHCRYPT_H
#define PUSHCRYPT_H

#include <sodium.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef const char *refusal;

// keys.c

enum { KEY = 32, KEY_ID = 4, LONGEST_KEY_TEXT = 70 };
enum key_kind { DEVICE_PUBLIC, SENDER_PUBLIC, RECOVERY_PUBLIC, DEVICE_SECRET, SENDER_SECRET, RECOVERY_SECRET };
enum key_type { X25519 = 0x01, ED25519 = 0x02, RECOVERY = 0x04 };

void key_id(uint8_t id[KEY_ID], enum key_type type, const uint8_t public_key[KEY]);
refusal parse_key(uint8_t key[KEY], const char *text, size_t length, enum key_kind kind);
void key_text(char text[LONGEST_KEY_TEXT + 1], const uint8_t key[KEY], enum key_kind kind);
refusal check_device_key(const uint8_t key[KEY]);
refusal check_sender_key(const uint8_t key[KEY]);

// payload.c

// A checked JSON text, and the position of a value in it.
struct json {
    const uint8_t *at, *end;
};

refusal parse_object(struct json *object, const uint8_t *data, size_t length, refusal code);
refusal check_payload(struct json *object, const uint8_t *data, size_t length);
bool json_member(struct json *value, struct json object, const char *name);
bool json_element(struct json *value, struct json array, size_t index);
bool json_is(struct json value, char first);
bool json_equals(struct json value, const char *token);
bool json_string(uint8_t *text, size_t capacity, size_t *length, struct json value);
size_t json_token(struct json value);
bool is_utf8(const uint8_t *data, size_t length);
size_t json_minify(uint8_t *result, const uint8_t *data, size_t length);

// trust.c

enum { STATEMENT = 181, SIGNED = 53, MOST_STATEMENTS = 4, ROTATES = 0x01, RECOVERS = 0x02 };
enum { MOST_SENDERS = 8, MOST_SUPERSEDED = 32, MOST_RECOVERY_KEYS = 2, MOST_KEYS = MOST_SENDERS * (1 + MOST_SUPERSEDED) };
enum { TOLERANCE = 86400 };

// A superseded sender key. It never verifies a statement again.
//
// It verifies messages up to and including the millisecond of its end, which its statement says; that is always kept:
// and require it. A revoked key has none: it verifies nothing, for any sender.
struct superseded {
    uint8_t key[KEY];
    bool is_revoked;
    uint8_t statement[STATEMENT];
};

// What a receiver has of one sender: a name that the app gives, with a terminating zero byte. Without a pin, the app
// has removed it. `last_recovery` is the first 53 bytes of the last recovery statement, which include the serial.
// Recovery keys come from the app, or with the reply that brings the first pin.
struct sender {
    char name[32];
    bool has_pin, has_recovered;
    uint8_t pinned[KEY], recovery[MOST_RECOVERY_KEYS][KEY], last_recovery[SIGNED];
    size_t superseded_count, recovery_count;
    struct superseded superseded[MOST_SUPERSEDED];
};

// The senders that an app trusts for one context, in order. Initialise it with zeros; `trust_add` adds them.
//
// It is durable and only grows: see `opened` for how it changes. No key in it is one that [K-7] refuses, such as an
// unset setting, none is both a sender's and a recovery key [K-10], and no sender has one key twice.
struct trust {
    size_t count;
    struct sender senders[MOST_SENDERS];
};

// The accepted statements, and the conflicts to tell the app of.
struct followed {
    size_t count;
    uint8_t accepted[MOST_STATEMENTS][STATEMENT];
    bool rotation_conflict, recovery_conflict;
};

refusal trust_add(struct trust *trust, const struct sender *sender);
size_t trust_candidates(const uint8_t *candidates[MOST_KEYS], const struct trust *trust, const uint8_t id[KEY_ID], uint64_t now);
void trust_follow(
    struct trust *trust, struct followed *followed, const uint8_t *statements, size_t count, bool with_recoveries, const char *context,
    uint64_t now);
refusal trust_evaluate(
    struct trust *trust, bool *changed, refusal *conflict, const uint8_t *statement, size_t length, const char *context, uint64_t now);
bool verifies(const uint8_t key[KEY], const uint8_t *signature, const uint8_t *data, size_t length);
uint64_t later(uint64_t time, uint32_t seconds);
uint64_t number(const uint8_t *bytes, size_t length);

// hpke.c

struct hpke_context {
    uint8_t key[crypto_aead_chacha20poly1305_ietf_KEYBYTES], base_nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
};

bool hpke_setup_base_s(
    struct hpke_context *context, uint8_t enc[KEY], const uint8_t recipient[KEY], const uint8_t *info, size_t info_length,
    const uint8_t *ikm_e);
bool hpke_setup_base_r(
    struct hpke_context *context, const uint8_t enc[KEY], const uint8_t secret[KEY], const uint8_t public[KEY], const uint8_t *info,
    size_t info_length);
void hpke_seal(struct hpke_context *context, uint8_t *ct, const uint8_t *pt, size_t length);
bool hpke_open(struct hpke_context *context, uint8_t *pt, const uint8_t *ct, size_t length);

// envelope.c

enum { SUITE = 0x01, HEADER = 5, CIPHERTEXT_AT = 37, TAG = 16, LONGEST_CONTEXT = 255, BUCKET_COUNT = 8 };
enum { SIGNATURE_AT = 4, CONTENT_AT = 68, ID_AT = 69, SENT_AT = 85, LIVE_AT = 93, LENGTH_AT = 97, BODY_AT = 99 };
enum { PAYLOAD = 0x01, STATEMENTS = 0x02, LONGEST_TIME_TO_LIVE = 2592000 };
enum { LONGEST_INFO = 21 + HEADER + 2 + LONGEST_CONTEXT, LONGEST_SIGNED = 22 + HEADER + 3 * KEY + 2 + LONGEST_CONTEXT + 32 };
#define LARGEST_TIME ((UINT64_C(1) << 53) - 1)
extern const size_t BUCKETS[BUCKET_COUNT];

enum { LARGEST_BUCKET = 3584, OUTSIDE = 53, LONGEST_TEXT = 4850, LONGEST_PUSH = 5120, MESSAGE_ID = 16 };

// A device's secret key. A retiring key opens up to and including the millisecond of its end date; the others have
// UINT64_MAX.
struct device_key {
    uint8_t secret[KEY], public[KEY], id[KEY_ID];
    uint64_t end;
};

struct receiver {
    const char *context;  // the app's own bundle id, never a value from the push [O-0.2]
    const struct device_key *devices;
    size_t device_count;
    const struct trust *trust;
};

// An authentic, fresh message. The app's guard decides by `sender` and `message_id` whether it was shown before. After
// a refusal it is all zeros.
//
// Whatever the guard says, the app, under one lock, makes the *currently* stored trust follow the accepted statements in
// `followed`, with the context and the `now` of the opening, and stores it [O-9.1]. It must not store the trust that it
// opened with, because another message may have changed the stored trust since. A pending `device` key becomes active
// [O-9.2], and conflicts are reported to the app, [R-19].
//
// `pushcrypt` in the payload contains the keys of files. Remove it before the app, `userInfo` and logs get the payload
// [N-2].
struct opened {
    uint8_t payload[LARGEST_BUCKET];
    size_t payload_length;
    uint8_t message_id[MESSAGE_ID], sender[KEY];
    uint64_t sent_at;
    uint32_t time_to_live;
    const struct device_key *device;  // one of the receiver's
    struct followed followed;
};

void device_key(struct device_key *device, const uint8_t secret[KEY], uint64_t end);
refusal open_push(struct opened *opened, const uint8_t *push, size_t length, const struct receiver *receiver, uint64_t now);
refusal open_text(struct opened *opened, const char *text, size_t length, const struct receiver *receiver, uint64_t now);
refusal decode_envelope(uint8_t envelope[OUTSIDE + LARGEST_BUCKET], size_t *envelope_length, const char *text, size_t length);
void fingerprint(char hex[9], const char *text, size_t length);
bool is_context(const char *context);
uint8_t *put(uint8_t *at, const void *bytes, size_t length);
uint8_t *put_number(uint8_t *at, uint64_t value, size_t length);
size_t envelope_info(uint8_t info[LONGEST_INFO], const uint8_t *header, const char *context);
size_t signed_data(
    uint8_t data[LONGEST_SIGNED], const uint8_t *envelope, const uint8_t recipient[KEY], const uint8_t sender[KEY],
    const char *context, const uint8_t *inner, size_t bucket);

// seal.c

enum push_type { ALERT, BACKGROUND, VOIP };
enum { LONGEST_PAYLOAD = 65536 };

struct message {
    const char *context;
    const uint8_t *payload;
    size_t payload_length;
    uint64_t sent_at;
    uint32_t time_to_live;
    enum push_type push_type;
    const char *title, *sound;  // UTF-8; the sound is NULL for none, and present only if the payload has one
    const uint8_t *message_id;  // NULL for a new one; the same 16 bytes for a retry
    const uint8_t *ephemeral;   // NULL; for vectors alone the 32 bytes of `DeriveKeyPair`, never twice the same [S-9]
    const uint8_t (*statements)[STATEMENT];
    size_t statement_count;
};

refusal seal(char push[LONGEST_PUSH + 1], const struct message *message, const uint8_t device[KEY], const uint8_t seed[KEY]);

// attachments.c

enum { CHUNK = 65553, CHUNK_OVERHEAD = 17, FILE_START = 29, MOST_ATTACHMENTS = 8 };

// The location of a sealed file, and its key. Because of the key it must never reach the app's data or a log.
//
// The name is a label to show, never a path: allows names that some systems treat as paths, such as `C:x`, `CON`
// or a backslash.
struct reference {
    char url[LARGEST_BUCKET + 1], type[256], name[256];
    uint8_t key[KEY], sha256[crypto_hash_sha256_BYTES];
    uint64_t size;
};

struct attachments {
    struct reference references[MOST_ATTACHMENTS];
    size_t count, malformed;  // the accepted ones, and how often to report `malformed-reference`
    bool too_many;            // whether to report `too-many-attachments`
};

struct file_opener {
    crypto_secretstream_xchacha20poly1305_state stream;
    crypto_hash_sha256_state hash;
    uint8_t key[KEY], sha256[crypto_hash_sha256_BYTES], buffer[CHUNK], plain[CHUNK - CHUNK_OVERHEAD];
    uint64_t size, came;
    size_t buffered;
    bool started, first, ended;
};

// Writes bytes of a file. Returns false if it cannot, for example because the disk is full.
typedef bool (*file_sink)(void *context, const uint8_t *bytes, size_t length);

refusal parse_reference(struct reference *reference, struct json value);
void payload_attachments(struct attachments *attachments, struct json payload);
refusal payload_full_body(struct reference *reference, bool *found, struct json payload);
refusal check_full_body(const uint8_t *plain, size_t length);
void file_open(struct file_opener *opener, const uint8_t key[KEY], uint64_t size, const uint8_t sha256[crypto_hash_sha256_BYTES]);
refusal file_update(struct file_opener *opener, const uint8_t *piece, size_t length, file_sink sink, void *context);
refusal file_finish(struct file_opener *opener, file_sink sink, void *context);
refusal file_seal(const uint8_t *plain, size_t length, const uint8_t key[KEY], file_sink sink, void *context);

#endif
