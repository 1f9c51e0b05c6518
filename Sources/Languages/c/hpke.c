// HPKE in base mode with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and ChaCha20-Poly1305: RFC 9180, with its names.
//
// libsodium computes on keys and compares tags in constant time. Every intermediate secret is wiped.
#include <string.h>

#include "pushcrypt.h"

enum { HASH = 32 };

struct bytes {
    const void *at;
    size_t length;
};

static const struct bytes KEM_SUITE = {"KEM\x00\x20", 5}, HPKE_SUITE = {"HPKE\x00\x20\x00\x01\x00\x03", 10};
static const struct bytes VERSION = {"HPKE-v1", 7}, NOTHING = {"", 0};

static void hmac(uint8_t mac[HASH], struct bytes key, const struct bytes *parts, size_t count) {
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, key.at, key.length);
    for (size_t index = 0; index < count; index++) crypto_auth_hmacsha256_update(&state, parts[index].at, parts[index].length);
    crypto_auth_hmacsha256_final(&state, mac);
    sodium_memzero(&state, sizeof state);
}

// For HMAC an empty salt and 32 zero bytes are the same key.
static void labeled_extract(uint8_t prk[HASH], struct bytes suite, struct bytes salt, const char *label, struct bytes ikm) {
    const struct bytes parts[] = {VERSION, suite, {label, strlen(label)}, ikm};
    hmac(prk, salt, parts, 4);
}

// At most 32 bytes, so only the first block of HKDF-Expand is needed.
static void labeled_expand(
    uint8_t *result, uint8_t length, struct bytes suite, const uint8_t prk[HASH], const char *label, struct bytes info) {
    const uint8_t length_bytes[2] = {0, length}, one = 1;
    const struct bytes parts[] = {{length_bytes, 2}, VERSION, suite, {label, strlen(label)}, info, {&one, 1}};
    uint8_t block[HASH];
    hmac(block, (struct bytes){prk, HASH}, parts, 6);
    memcpy(result, block, length);
    sodium_memzero(block, sizeof block);
}

static void extract_and_expand(
    uint8_t shared_secret[HASH], const uint8_t dh[KEY], const uint8_t enc[KEY], const uint8_t recipient[KEY]) {
    uint8_t eae_prk[HASH], kem_context[2 * KEY];
    memcpy(kem_context, enc, KEY);
    memcpy(kem_context + KEY, recipient, KEY);
    labeled_extract(eae_prk, KEM_SUITE, NOTHING, "eae_prk", (struct bytes){dh, KEY});
    labeled_expand(shared_secret, HASH, KEM_SUITE, eae_prk, "shared_secret", (struct bytes){kem_context, sizeof kem_context});
    sodium_memzero(eae_prk, sizeof eae_prk);
}

static void key_schedule(struct hpke_context *context, const uint8_t shared_secret[HASH], const uint8_t *info, size_t info_length) {
    uint8_t schedule[1 + 2 * HASH] = {0x00}, secret[HASH];
    const struct bytes schedule_bytes = {schedule, sizeof schedule};
    labeled_extract(schedule + 1, HPKE_SUITE, NOTHING, "psk_id_hash", NOTHING);
    labeled_extract(schedule + 1 + HASH, HPKE_SUITE, NOTHING, "info_hash", (struct bytes){info, info_length});
    labeled_extract(secret, HPKE_SUITE, (struct bytes){shared_secret, HASH}, "secret", NOTHING);
    labeled_expand(context->key, sizeof context->key, HPKE_SUITE, secret, "key", schedule_bytes);
    labeled_expand(context->base_nonce, sizeof context->base_nonce, HPKE_SUITE, secret, "base_nonce", schedule_bytes);
    sodium_memzero(secret, sizeof secret);
}

// X25519 and the key derivation; false if its result is all zero [O-4.2], which libsodium reports.
static bool set_up(
    struct hpke_context *context, const uint8_t secret[KEY], const uint8_t public[KEY], const uint8_t enc[KEY],
    const uint8_t recipient[KEY], const uint8_t *info, size_t info_length) {
    uint8_t dh[KEY], shared_secret[HASH];
    if (crypto_scalarmult_curve25519(dh, secret, public) != 0) return false;
    extract_and_expand(shared_secret, dh, enc, recipient);
    key_schedule(context, shared_secret, info, info_length);
    sodium_memzero(dh, sizeof dh);
    sodium_memzero(shared_secret, sizeof shared_secret);
    return true;
}

static void derive_key(uint8_t secret[KEY], const uint8_t ikm[HASH]) {
    uint8_t dkp_prk[HASH];
    labeled_extract(dkp_prk, KEM_SUITE, NOTHING, "dkp_prk", (struct bytes){ikm, HASH});
    labeled_expand(secret, KEY, KEM_SUITE, dkp_prk, "sk", NOTHING);
    sodium_memzero(dkp_prk, sizeof dkp_prk);
}

// Returns enc and the sender's context for the recipient's public key. Uses plain randomness, which the format allows,
// unless a vector gives the input of `DeriveKeyPair`.
bool hpke_setup_base_s(
    struct hpke_context *context, uint8_t enc[KEY], const uint8_t recipient[KEY], const uint8_t *info, size_t info_length,
    const uint8_t *ikm_e) {
    uint8_t ephemeral[KEY];
    if (ikm_e == NULL)
        randombytes_buf(ephemeral, KEY);
    else
        derive_key(ephemeral, ikm_e);
    crypto_scalarmult_curve25519_base(enc, ephemeral);
    const bool good = set_up(context, ephemeral, recipient, enc, recipient, info, info_length);
    sodium_memzero(ephemeral, sizeof ephemeral);
    return good;
}

// The recipient's context. The KEM context is enc as received [O-4.1].
bool hpke_setup_base_r(
    struct hpke_context *context, const uint8_t enc[KEY], const uint8_t secret[KEY], const uint8_t public[KEY], const uint8_t *info,
    size_t info_length) {
    return set_up(context, secret, enc, enc, public, info, info_length);
}

// Encrypts with an empty aad, and wipes the context, which is for one message.
void hpke_seal(struct hpke_context *context, uint8_t *ct, const uint8_t *pt, size_t length) {
    crypto_aead_chacha20poly1305_ietf_encrypt(ct, NULL, pt, length, NULL, 0, NULL, context->base_nonce, context->key);
    sodium_memzero(context, sizeof *context);
}

// Decrypts with an empty aad, and wipes the context. Returns no plaintext if the tag is wrong [O-4.3].
bool hpke_open(struct hpke_context *context, uint8_t *pt, const uint8_t *ct, size_t length) {
    const int tag = crypto_aead_chacha20poly1305_ietf_decrypt(pt, NULL, NULL, ct, length, NULL, 0, context->base_nonce, context->key);
    sodium_memzero(context, sizeof *context);
    return tag == 0;
}
