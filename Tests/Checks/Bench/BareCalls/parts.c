// The calls of one seal by kind, so that the bench can say where its time goes. They work on bytes that mean nothing, of the
// lengths that a seal of 200 bytes has (bare.c).

#include "bare.h"

#include <sodium.h>
#include <string.h>

enum { BUCKET = 512, SIGNED = 208, CONTENT = BUCKET - 68, ENVELOPE = 53 + BUCKET };

static unsigned char hash_input[CONTENT], key[32], scalar[32], point[32], output[ENVELOPE], nonce[12];

static void hash(size_t length) {
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, hash_input, length);
    crypto_hash_sha256_final(&state, output);
}

static void hmac(size_t length) {
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, key, sizeof key);
    crypto_auth_hmacsha256_update(&state, hash_input, length);
    crypto_auth_hmacsha256_final(&state, output);
}

int bare_part(const bare_keys *keys, bare_part_kind kind) {
    char text[BARE_MAXIMUM_TEXT];
    switch (kind) {
    case BARE_BASE: return crypto_scalarmult_curve25519_base(point, keys->device_secret);
    case BARE_EXCHANGE: return crypto_scalarmult_curve25519(output, scalar, keys->device_public);
    case BARE_SIGNATURE:
        return crypto_sign_ed25519_detached(output, NULL, hash_input, SIGNED, keys->provider_secret);
    case BARE_HMACS:
        // two hedged values, two of DeriveKeyPair, two of the KEM, four of the key schedule
        hmac(95), hmac(150), hmac(46), hmac(15), hmac(50), hmac(90), hmac(60), hmac(30), hmac(90), hmac(90);
        return 0;
    case BARE_HASHES: hash(52), hash(200), hash(CONTENT); return 0;
    case BARE_CIPHER:
        return crypto_aead_chacha20poly1305_ietf_encrypt(output + 37, NULL, hash_input, CONTENT, NULL, 0, NULL, nonce, key);
    case BARE_RANDOM: randombytes_buf(key, 32), randombytes_buf(scalar, 32); return 0;
    case BARE_TEXT:
        return sodium_bin2base64(text, sizeof text, output, ENVELOPE, sodium_base64_VARIANT_URLSAFE_NO_PADDING) == NULL;
    }
    return -1;
}
