#ifndef PUSHCRYPT_BARE_H
#define PUSHCRYPT_BARE_H

#include <stddef.h>
#include <stdint.h>

/// The longest payload, text and topic that the yardstick takes.
enum { BARE_MAXIMUM_PAYLOAD = 2816 - 99, BARE_MAXIMUM_TEXT = 4 * (2816 + 1141) / 3 + 2, BARE_MAXIMUM_TOPIC = 255 };

/// What is the same for every message between one provider and one device under one topic; made once, and no part of what is measured.
typedef struct {
    unsigned char provider_secret[64], provider_public[32], hedge_key[32];
    unsigned char suite, device_secret[32], device_public[1216], device_id[4];
    size_t device_public_length;
    unsigned char topic[2 + BARE_MAXIMUM_TOPIC];
    size_t topic_length;
    unsigned char psk_id_hash[32];
} bare_keys;

/// Makes the keys of a provider's seed and a device's scalar, or seed of suite 2, 32 bytes each; gives 0, or -1 for a topic that is too
/// long or a suite that libsodium lacks.
int bare_make_keys(bare_keys *keys, int suite, const unsigned char *seed, const unsigned char *scalar, const char *topic);

/// Seals a payload that is minified already; writes the text of the envelope, without a zero at its end, and gives its length, or 0.
size_t bare_seal(const bare_keys *keys, const unsigned char *payload, size_t length, uint64_t milliseconds, char *text);

/// Opens the text of an envelope; writes the payload and gives its length, or 0.
size_t bare_open(const bare_keys *keys, const char *text, size_t length, unsigned char *payload);

#endif
