// The yardstick of every measurement: one seal and one open of the format, as the libsodium calls they are made of and nothing
// else. No JSON, no allocation, no types, no errors worth the name. It is a working sealer and opener all the same: the bench
// opens what it seals, and it opens what the library seals (Docs/Format.md).
//
// The calls of one seal                                    of one open
//   randombytes_buf            2 of 32 bytes                 sodium_base642bin             1, the envelope
//   crypto_hash_sha256         3: key id, body, content      crypto_scalarmult_curve25519  1
//   crypto_auth_hmacsha256     2 hedged values               crypto_auth_hmacsha256        2 of the KEM
//                              2 of DeriveKeyPair                                          4 of the key schedule
//                              2 of the KEM                  crypto_aead_…_decrypt         1, the inner plaintext
//                              4 of the key schedule         crypto_hash_sha256            1, the content
//   crypto_scalarmult_…_base   1                             crypto_sign_…_verify_detached 1
//   crypto_scalarmult_…        1                             sodium_is_zero                1, the padding
//   crypto_sign_…_detached     1                             sodium_memzero                2: secrets, inner
//   crypto_aead_…_encrypt      1, the inner plaintext
//   sodium_bin2base64          1, the envelope
//   sodium_memzero             2: secrets, inner
//
// SHA-256 and HMAC are an init, an update for each piece, and a final, as libsodium has them. In suite 2 X-Wing takes the place of
// the KEM: of X25519, DeriveKeyPair and the two HMACs; enc and the device's key are hashed for ikmE and the signature.

#include "bare.h"

#include <sodium.h>
#include <string.h>

#if __has_include(<sodium/crypto_kem_xwing.h>)
#include <sodium/crypto_kem_xwing.h>
#define XWING(call) (call)
#else
#define XWING(call) (-1)
#endif

enum {
    HEADER = 1 + 4, LONGEST_ENC = 1120, TAG = 16, INSIDE = 99,
    KIND = 68, MESSAGE_ID = 69, SENT_AT = 85, TIME_TO_LIVE = 93, BODY_LENGTH = 97, LARGEST = 2816,
    OUTSIDE = HEADER + LONGEST_ENC + TAG, SIGNED = 22 + HEADER + 4 * 32 + 4 + 2 + BARE_MAXIMUM_TOPIC + 32,
};

static const unsigned char EPOCH[4] = {0};

/// A string literal without its zero, as pointer and length.
#define LITERAL(text) (const unsigned char *)(text), sizeof(text) - 1

/// The secrets of one message, wiped together.
typedef struct {
    crypto_auth_hmacsha256_state hmac;
    unsigned char random[2][32], ikm[32], prk[32], scalar[32], dh[32], shared[32], secret[32], key[32], nonce[32], xwing[64];
} message_secrets;

static unsigned char *put(unsigned char *at, const void *bytes, size_t length) {
    memcpy(at, bytes, length);
    return at + length;
}

static void put_number(unsigned char *at, uint64_t value, int width) {
    for (int i = 0; i < width; i++) at[i] = (unsigned char)(value >> (8 * (width - 1 - i)));
}

static void key_id(unsigned char id[4], unsigned char type, const unsigned char *public_key, size_t length) {
    crypto_hash_sha256_state hash;
    unsigned char digest[32];
    crypto_hash_sha256_init(&hash);
    crypto_hash_sha256_update(&hash, LITERAL("pushcrypt/1 key id\0"));
    crypto_hash_sha256_update(&hash, &type, 1);
    crypto_hash_sha256_update(&hash, public_key, length);
    crypto_hash_sha256_final(&hash, digest);
    memcpy(id, digest, 4);
}

/// LabeledExtract: HMAC under the salt of the labels, joined to one literal, and the input.
static void extract(crypto_auth_hmacsha256_state *hmac, unsigned char output[32], const unsigned char *salt, size_t salt_length,
                    const unsigned char *label, size_t label_length, const unsigned char *input, size_t length) {
    crypto_auth_hmacsha256_init(hmac, salt, salt_length);
    crypto_auth_hmacsha256_update(hmac, label, label_length);
    crypto_auth_hmacsha256_update(hmac, input, length);
    crypto_auth_hmacsha256_final(hmac, output);
}

/// LabeledExpand to at most one block: HMAC under the key of length and labels, joined to one literal, the info and 1.
static void expand(crypto_auth_hmacsha256_state *hmac, unsigned char output[32], const unsigned char prk[32],
                   const unsigned char *label, size_t label_length, const unsigned char *info, size_t length) {
    static const unsigned char counter = 1;
    crypto_auth_hmacsha256_init(hmac, prk, 32);
    crypto_auth_hmacsha256_update(hmac, label, label_length);
    crypto_auth_hmacsha256_update(hmac, info, length);
    crypto_auth_hmacsha256_update(hmac, &counter, 1);
    crypto_auth_hmacsha256_final(hmac, output);
}

/// What ikmE and the signature cover of enc or a device's key: itself, or its hash in suite 2.
static const unsigned char *in_32_bytes(const bare_keys *keys, unsigned char digest[32], const unsigned char *bytes, size_t length) {
    if (keys->suite == 1) return bytes;
    crypto_hash_sha256_state hash;
    crypto_hash_sha256_init(&hash);
    crypto_hash_sha256_update(&hash, bytes, length);
    crypto_hash_sha256_final(&hash, digest);
    return digest;
}

/// The suite's id in HPKE, in the middle of a label.
#define BY_SUITE(before, after) \
    (const unsigned char *)(keys->suite == 1 ? before "HPKE-v1HPKE\x00\x20\x00\x01\x00\x03" after \
                                             : before "HPKE-v1HPKE\x64\x7a\x00\x01\x00\x03" after), \
        sizeof(before "HPKE-v1HPKE\x00\x20\x00\x01\x00\x03" after) - 1

/// ExtractAndExpand of DHKEM in suite 1, and the key schedule: from the KEM's result to key and nonce.
static void derive_key(const bare_keys *keys, message_secrets *secrets, const unsigned char *header, const unsigned char *enc) {
    unsigned char kem_context[64], info[21 + HEADER + 2 + BARE_MAXIMUM_TOPIC], context[1 + 32 + 32] = {0};
    if (keys->suite == 1) put(put(kem_context, enc, 32), keys->device_public, 32);
    unsigned char *end = put(info, "pushcrypt/1 envelope", 21);
    end = put(put(end, header, HEADER), keys->topic, keys->topic_length);
    memcpy(context + 1, keys->psk_id_hash, 32);

    // eae_prk, then the shared secret
    if (keys->suite == 1) {
        extract(&secrets->hmac, secrets->prk, LITERAL(""), LITERAL("HPKE-v1KEM\x00\x20" "eae_prk"), secrets->dh, 32);
        expand(&secrets->hmac, secrets->shared, secrets->prk, LITERAL("\x00\x20HPKE-v1KEM\x00\x20shared_secret"), kem_context, 64);
    }
    // info_hash
    extract(&secrets->hmac, context + 33, LITERAL(""), BY_SUITE("", "info_hash"), info, (size_t)(end - info));
    // secret, without a pre-shared key
    extract(&secrets->hmac, secrets->secret, secrets->shared, 32, BY_SUITE("", "secret"), LITERAL(""));
    // key, 32 bytes
    expand(&secrets->hmac, secrets->key, secrets->secret, BY_SUITE("\x00\x20", "key"), context, 65);
    // base_nonce, the first 12 bytes of a block; message number 0 leaves it as it is
    expand(&secrets->hmac, secrets->nonce, secrets->secret, BY_SUITE("\x00\x0c", "base_nonce"), context, 65);
}

/// Lays out what the signature covers and gives its length; `envelope` is the header and enc.
static size_t signed_message(const bare_keys *keys, unsigned char *output, const unsigned char *envelope,
                             const unsigned char *device, const unsigned char content_hash[32]) {
    unsigned char digest[32], *end = put(output, "pushcrypt/1 signature", 22);
    end = put(end, envelope, HEADER);
    end = put(end, in_32_bytes(keys, digest, envelope + HEADER, LONGEST_ENC), 32);
    // At epoch 0 the provider key signs itself.
    end = put(put(put(end, device, 32), keys->provider_public, 32), keys->provider_public, 32);
    end = put(end, EPOCH, sizeof EPOCH);
    end = put(end, keys->topic, keys->topic_length);
    end = put(end, content_hash, 32);
    return (size_t)(end - output);
}

int bare_make_keys(bare_keys *keys, int suite, const unsigned char *seed, const unsigned char *scalar, const char *topic) {
    size_t length = strlen(topic);
    if (sodium_init() < 0 || length > BARE_MAXIMUM_TOPIC) return -1;
    crypto_sign_ed25519_seed_keypair(keys->provider_public, keys->provider_secret, seed);
    keys->suite = (unsigned char)suite;
    memcpy(keys->device_secret, scalar, 32);
    keys->device_public_length = suite == 1 ? 32 : sizeof keys->device_public;
    if (suite == 1) crypto_scalarmult_curve25519_base(keys->device_public, scalar);
    else if (XWING(crypto_kem_xwing_seed_keypair(keys->device_public, keys->device_secret, scalar)) != 0) return -1;
    key_id(keys->device_id, suite == 1 ? 0x01 : 0x03, keys->device_public, keys->device_public_length);
    put_number(keys->topic, length, 2);
    memcpy(keys->topic + 2, topic, length);
    keys->topic_length = 2 + length;

    crypto_auth_hmacsha256_state hmac;
    crypto_auth_hmacsha256_init(&hmac, seed, 32);
    crypto_auth_hmacsha256_update(&hmac, LITERAL("pushcrypt/1 hedge\0"));
    crypto_auth_hmacsha256_final(&hmac, keys->hedge_key);
    extract(&hmac, keys->psk_id_hash, LITERAL(""), BY_SUITE("", "psk_id_hash"), LITERAL(""));
    return 0;
}

size_t bare_seal(const bare_keys *keys, const unsigned char *payload, size_t length, uint64_t milliseconds, char *text) {
    static const size_t buckets[] = {256, 512, 1024, 1536, 2048, 2560, LARGEST};
    unsigned char envelope[OUTSIDE + LARGEST], inner[LARGEST], signed_bytes[SIGNED], hash[32], id[32], digest[32];
    unsigned char *enc = envelope + HEADER;
    size_t enc_length = keys->suite == 1 ? 32 : LONGEST_ENC;
    message_secrets secrets;
    crypto_hash_sha256_state sha;
    size_t bucket = 0;
    for (size_t i = 0; bucket < INSIDE + length; i++) {
        if (i == sizeof buckets / sizeof *buckets) return 0;
        bucket = buckets[i];
    }

    // r of the message id, and r of the ephemeral key
    randombytes_buf(secrets.random[0], 32);
    randombytes_buf(secrets.random[1], 32);

    // header: suite, and the id of the device's key
    envelope[0] = keys->suite;
    key_id(envelope + 1, keys->suite == 1 ? 0x01 : 0x03, keys->device_public, keys->device_public_length);
    const unsigned char *device = in_32_bytes(keys, digest, keys->device_public, keys->device_public_length);

    // inner plaintext
    memset(inner, 0, bucket);
    inner[KIND] = 0x01;
    put_number(inner + SENT_AT, milliseconds, 8);
    put_number(inner + TIME_TO_LIVE, 2592000, 4);
    put_number(inner + BODY_LENGTH, length, 2);
    memcpy(inner + INSIDE, payload, length);

    // message id = HMAC(hedge key, label, r, sent at, SHA-256(body))
    crypto_hash_sha256_init(&sha);
    crypto_hash_sha256_update(&sha, payload, length);
    crypto_hash_sha256_final(&sha, hash);
    crypto_auth_hmacsha256_init(&secrets.hmac, keys->hedge_key, 32);
    crypto_auth_hmacsha256_update(&secrets.hmac, LITERAL("pushcrypt/1 message id\0"));
    crypto_auth_hmacsha256_update(&secrets.hmac, secrets.random[0], 32);
    crypto_auth_hmacsha256_update(&secrets.hmac, inner + SENT_AT, 8);
    crypto_auth_hmacsha256_update(&secrets.hmac, hash, 32);
    crypto_auth_hmacsha256_final(&secrets.hmac, id);
    memcpy(inner + MESSAGE_ID, id, 16);

    // the content hash, for ikmE and for the signature
    crypto_hash_sha256_init(&sha);
    crypto_hash_sha256_update(&sha, inner + KIND, bucket - KIND);
    crypto_hash_sha256_final(&sha, hash);

    // ikmE = HMAC(hedge key, label, r, header, recipient, epoch, topic, content hash)
    crypto_auth_hmacsha256_init(&secrets.hmac, keys->hedge_key, 32);
    crypto_auth_hmacsha256_update(&secrets.hmac, LITERAL("pushcrypt/1 ephemeral\0"));
    crypto_auth_hmacsha256_update(&secrets.hmac, secrets.random[1], 32);
    crypto_auth_hmacsha256_update(&secrets.hmac, envelope, HEADER);
    crypto_auth_hmacsha256_update(&secrets.hmac, device, 32);
    crypto_auth_hmacsha256_update(&secrets.hmac, EPOCH, sizeof EPOCH);
    crypto_auth_hmacsha256_update(&secrets.hmac, keys->topic, keys->topic_length);
    crypto_auth_hmacsha256_update(&secrets.hmac, hash, 32);
    crypto_auth_hmacsha256_final(&secrets.hmac, secrets.ikm);

    if (keys->suite == 1) {
        // DeriveKeyPair: dkp_prk, sk, and the public key, which is enc
        extract(&secrets.hmac, secrets.prk, LITERAL(""), LITERAL("HPKE-v1KEM\x00\x20" "dkp_prk"), secrets.ikm, 32);
        expand(&secrets.hmac, secrets.scalar, secrets.prk, LITERAL("\x00\x20HPKE-v1KEM\x00\x20sk"), LITERAL(""));
        crypto_scalarmult_curve25519_base(enc, secrets.scalar);

        // the Diffie-Hellman result, and the keys that come of it
        if (crypto_scalarmult_curve25519(secrets.dh, secrets.scalar, keys->device_public) != 0) return 0;
    } else {
        // HKDF-Expand to 64 bytes, two blocks, of which the second covers the first
        static const unsigned char counters[] = {1, 2};
        for (int block = 0; block < 2; block++) {
            crypto_auth_hmacsha256_init(&secrets.hmac, secrets.ikm, 32);
            if (block > 0) crypto_auth_hmacsha256_update(&secrets.hmac, secrets.xwing, 32);
            crypto_auth_hmacsha256_update(&secrets.hmac, LITERAL("pushcrypt/1 xwing seed\0"));
            crypto_auth_hmacsha256_update(&secrets.hmac, counters + block, 1);
            crypto_auth_hmacsha256_final(&secrets.hmac, secrets.xwing + 32 * block);
        }
        if (XWING(crypto_kem_xwing_enc_deterministic(enc, secrets.shared, keys->device_public, secrets.xwing)) != 0) return 0;
    }
    derive_key(keys, &secrets, envelope, enc);

    // the signature, inside
    size_t signed_length = signed_message(keys, signed_bytes, envelope, device, hash);
    crypto_sign_ed25519_detached(inner + 4, NULL, signed_bytes, signed_length, keys->provider_secret);

    // ciphertext and tag, then the text
    crypto_aead_chacha20poly1305_ietf_encrypt(enc + enc_length, NULL, inner, bucket, NULL, 0, NULL, secrets.nonce,
                                              secrets.key);
    sodium_bin2base64(text, BARE_MAXIMUM_TEXT, envelope, HEADER + enc_length + bucket + TAG, sodium_base64_VARIANT_URLSAFE_NO_PADDING);

    sodium_memzero(&secrets, sizeof secrets);
    sodium_memzero(inner, bucket);
    return strlen(text);
}

size_t bare_open(const bare_keys *keys, const char *text, size_t length, unsigned char *payload) {
    unsigned char envelope[OUTSIDE + LARGEST], inner[LARGEST], signed_bytes[SIGNED], hash[32], digest[32];
    message_secrets secrets;
    size_t count, enc_length = keys->suite == 1 ? 32 : LONGEST_ENC, outside = HEADER + enc_length + TAG;

    // the envelope's bytes; its id names the device's key
    if (sodium_base642bin(envelope, sizeof envelope, text, length, NULL, &count, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) != 0 || count < outside + INSIDE) return 0;
    if (envelope[0] != keys->suite || memcmp(envelope + 1, keys->device_id, 4) != 0) return 0;
    size_t bucket = count - outside;

    // the Diffie-Hellman result, and the keys that come of it
    if (keys->suite == 1 ? crypto_scalarmult_curve25519(secrets.dh, keys->device_secret, envelope + HEADER)
                         : XWING(crypto_kem_xwing_dec(secrets.shared, envelope + HEADER, keys->device_secret))) return 0;
    derive_key(keys, &secrets, envelope, envelope + HEADER);

    // the inner plaintext
    if (crypto_aead_chacha20poly1305_ietf_decrypt(inner, NULL, NULL, envelope + HEADER + enc_length, bucket + TAG, NULL, 0,
                                                  secrets.nonce, secrets.key) != 0) return 0;

    // the provider's signature, and the padding
    crypto_hash_sha256_state sha;
    crypto_hash_sha256_init(&sha);
    crypto_hash_sha256_update(&sha, inner + KIND, bucket - KIND);
    crypto_hash_sha256_final(&sha, hash);
    const unsigned char *device = in_32_bytes(keys, digest, keys->device_public, keys->device_public_length);
    size_t signed_length = signed_message(keys, signed_bytes, envelope, device, hash);
    size_t body = (size_t)inner[BODY_LENGTH] << 8 | inner[BODY_LENGTH + 1];
    if (memcmp(inner, EPOCH, sizeof EPOCH) != 0 || body > bucket - INSIDE) return 0;
    if (crypto_sign_ed25519_verify_detached(inner + 4, signed_bytes, signed_length, keys->provider_public) != 0) return 0;
    if (sodium_is_zero(inner + INSIDE + body, bucket - INSIDE - body) != 1) return 0;
    memcpy(payload, inner + INSIDE, body);

    sodium_memzero(&secrets, sizeof secrets);
    sodium_memzero(inner, bucket);
    return body;
}
