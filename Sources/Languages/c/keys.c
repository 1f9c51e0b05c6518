// Keys as text, key ids, and the public keys that must be refused: Docs/Format.md, "Key ids" and "Keys as text".
#include <string.h>

#include "pushcrypt.h"

enum { VALUES = 58, CHECKSUM = 6, LONG_KEY = 1216, MOST_VALUES = (8 * LONG_KEY + 4) / 5 + CHECKSUM };

// Keys of suite 2, post-quantum: known in order to be refused as what they are.
enum { DEVICE_PUBLIC_2 = RECOVERY_SECRET + 1, DEVICE_SECRET_2, KINDS_OF_TEXT };

static const struct {
    const char *prefix, *written, *alphabet;
} KINDS[KINDS_OF_TEXT] = {
    [DEVICE_PUBLIC] = {"pcr", "pcr1", "qpzry9x8gf2tvdw0s3jn54khce6mua7l"},
    [SENDER_PUBLIC] = {"pcs", "pcs1", "qpzry9x8gf2tvdw0s3jn54khce6mua7l"},
    [RECOVERY_PUBLIC] = {"pcv", "pcv1", "qpzry9x8gf2tvdw0s3jn54khce6mua7l"},
    [DEVICE_SECRET] = {"pcr-secret-", "PCR-SECRET-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"},
    [SENDER_SECRET] = {"pcs-secret-", "PCS-SECRET-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"},
    [RECOVERY_SECRET] = {"pcv-secret-", "PCV-SECRET-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"},
    [DEVICE_PUBLIC_2] = {"pcrx", "pcrx1", "qpzry9x8gf2tvdw0s3jn54khce6mua7l"},
    [DEVICE_SECRET_2] = {"pcrx-secret-", "PCRX-SECRET-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"},
};

// The u-coordinates below 2^255 - 19 for which X25519 gives zero.
static const uint8_t SMALL_ORDER_U[5][KEY] = {
    {0},
    {1},
    {0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4, 0x6a,
     0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00},
    {0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef, 0x5b,
     0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57},
    {0xec, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
     0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
};

// 5L - 1, with L the order of the curve's large subgroup.
static const uint8_t FIVE_L_MINUS_1[KEY] = {
    0xa0, 0x23, 0xcd, 0xd0, 0x83, 0xef, 0x5b, 0xb8, 0x2f, 0x10, 0xd6, 0x2e, 0x59, 0xe1, 0x5a, 0x68,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50,
};

// The 4-byte id of a public key: a hint for lookups, never to be compared instead of the key [K-1].
void key_id(uint8_t id[KEY_ID], enum key_type type, const uint8_t public_key[KEY]) {
    const uint8_t type_byte = (uint8_t)type;
    uint8_t hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const uint8_t *)"pushcrypt/1 key id", 19);
    crypto_hash_sha256_update(&state, &type_byte, 1);
    crypto_hash_sha256_update(&state, public_key, KEY);
    crypto_hash_sha256_final(&state, hash);
    memcpy(id, hash, KEY_ID);
}

// The checksum of BIP-173: 1 for a valid text.
static uint32_t polymod(const char *prefix, const uint8_t *values, size_t count) {
    static const uint32_t generators[] = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};
    const size_t length = strlen(prefix);
    uint32_t checksum = 1;
    for (size_t index = 0; index < 2 * length + 1 + count; index++) {
        uint32_t value = 0;
        if (index < length)
            value = (uint32_t)prefix[index] >> 5;
        else if (index > length && index <= 2 * length)
            value = (uint32_t)prefix[index - length - 1] & 31;
        else if (index > 2 * length)
            value = values[index - 2 * length - 1];
        const uint32_t top = checksum >> 25;
        checksum = (checksum & 0x1ffffff) << 5 ^ value;
        for (size_t bit = 0; bit < 5; bit++)
            if (top >> bit & 1) checksum ^= generators[bit];
    }
    return checksum;
}

// Decodes five bits per character into 32 bytes. Does not check public keys.
static refusal decode(uint8_t key[KEY], uint8_t values[MOST_VALUES], const char *text, size_t length, enum key_kind kind) {
    if (length > 0 && text[length - 1] == '\n') length--;
    int of = -1;
    for (int other = DEVICE_PUBLIC; other < KINDS_OF_TEXT; other++) {
        const size_t prefix = strlen(KINDS[other].written);
        if (length >= prefix && memcmp(text, KINDS[other].written, prefix) == 0) of = other;
    }
    if (of < 0) return "malformed-key";
    const int suite_1 = of == DEVICE_PUBLIC_2 ? DEVICE_PUBLIC : of == DEVICE_SECRET_2 ? DEVICE_SECRET : of;
    if (suite_1 != (int)kind) return "wrong-kind-of-key";
    const size_t prefix = strlen(KINDS[of].written), bytes = of == DEVICE_PUBLIC_2 ? LONG_KEY : KEY, count = (8 * bytes + 4) / 5;
    if (length != prefix + count + CHECKSUM) return "malformed-key";
    for (size_t index = 0; index < count + CHECKSUM; index++) {
        const char *found = text[prefix + index] == 0 ? NULL : strchr(KINDS[of].alphabet, text[prefix + index]);
        if (found == NULL) return "malformed-key";
        values[index] = (uint8_t)(found - KINDS[of].alphabet);
    }
    if (polymod(KINDS[of].prefix, values, count + CHECKSUM) != 1) return "wrong-checksum";
    if ((values[count - 1] & ((1u << (5 * count - 8 * bytes)) - 1)) != 0) return "malformed-key";
    if (of != (int)kind) return "unsupported-suite";
    uint32_t bits = 0;
    for (size_t index = 0, held = 0, byte = 0; index < VALUES - CHECKSUM; index++) {
        bits = bits << 5 | values[index];
        held += 5;
        if (held >= 8) {
            held -= 8;
            key[byte++] = (uint8_t)(bits >> held);
        }
    }
    return NULL;
}

// Reads the 32 bytes of a key's text [K-4] to [K-8]. A returned public key is safe to use.
refusal parse_key(uint8_t key[KEY], const char *text, size_t length, enum key_kind kind) {
    uint8_t values[MOST_VALUES];
    const refusal refused = decode(key, values, text, length, kind);
    sodium_memzero(values, sizeof values);
    if (refused != NULL) return refused;
    if (kind == DEVICE_PUBLIC) return check_device_key(key);
    if (kind == SENDER_PUBLIC || kind == RECOVERY_PUBLIC) return check_sender_key(key);
    return NULL;
}

// Returns the text of a key's 32 bytes. For a secret key it is as secret as the key.
void key_text(char text[LONGEST_KEY_TEXT + 1], const uint8_t key[KEY], enum key_kind kind) {
    uint8_t values[VALUES] = {0};
    for (size_t index = 0; index < VALUES - CHECKSUM; index++) {
        const size_t bit = 5 * index;
        const uint32_t next = bit / 8 + 1 < KEY ? key[bit / 8 + 1] : 0;
        values[index] = (uint8_t)(((uint32_t)key[bit / 8] << 8 | next) >> (11 - bit % 8) & 31);
    }
    const uint32_t checksum = polymod(KINDS[kind].prefix, values, VALUES) ^ 1;
    for (size_t index = 0; index < CHECKSUM; index++)
        values[VALUES - CHECKSUM + index] = (uint8_t)(checksum >> 5 * (CHECKSUM - 1 - index) & 31);
    const size_t prefix = strlen(KINDS[kind].written);
    memcpy(text, KINDS[kind].written, prefix);
    for (size_t index = 0; index < VALUES; index++) text[prefix + index] = KINDS[kind].alphabet[values[index]];
    text[prefix + VALUES] = 0;
    sodium_memzero(values, sizeof values);
}

// Whether the 255 bits are below 2^255 - 19.
static bool is_reduced(const uint8_t key[KEY]) {
    if ((key[31] & 0x7f) != 0x7f || key[0] < 0xed) return true;
    for (size_t index = 1; index < 31; index++)
        if (key[index] != 0xff) return true;
    return false;
}

// Refuses what [K-8] refuses: unreduced numbers, and the five for which X25519 gives zero.
refusal check_device_key(const uint8_t key[KEY]) {
    if ((key[31] & 0x80) != 0 || !is_reduced(key)) return "weak-key";
    for (size_t index = 0; index < 5; index++)
        if (memcmp(key, SMALL_ORDER_U[index], KEY) == 0) return "weak-key";
    return NULL;
}

// Refuses what [K-7] refuses of sender and recovery keys: with u of the point, X25519(5L - 1, u) = u exactly for a point of order L. The conversion
// to u also checks the point, but in libsodium before the fix of CVE-2025-69277 it accepts some points of mixed order.
refusal check_sender_key(const uint8_t key[KEY]) {
    uint8_t u[KEY], product[KEY];
    if (!is_reduced(key) || crypto_sign_ed25519_pk_to_curve25519(u, key) != 0) return "weak-key";
    if (crypto_scalarmult_curve25519(product, FIVE_L_MINUS_1, u) != 0 || memcmp(product, u, KEY) != 0) return "weak-key";
    return NULL;
}
