// X-Wing, the post-quantum KEM, as libsodium has it from 1.0.22 on. Swift cannot ask whether a header declares a function.
// Includes no header of libsodium, whose declarations Swift would import as part of this module.
#pragma once

/// Returns 1 if libsodium has X-Wing: in the headers of the build, and in the library that runs.
int pushcrypt_xwing_is_available(void);

// Each returns 0, or another value if libsodium refused the input or lacks X-Wing.

/// Computes the public key, 1,216 bytes, of a seed of 32 bytes.
int pushcrypt_xwing_public_key(unsigned char *public_key, const unsigned char *seed);

/// Encapsulates with 64 bytes of randomness: writes 1,120 bytes, and a shared secret of 32.
int pushcrypt_xwing_encapsulate(
    unsigned char *enc, unsigned char *shared_secret, const unsigned char *public_key, const unsigned char *randomness);

/// Decapsulates with the seed of the key, 32 bytes.
int pushcrypt_xwing_decapsulate(unsigned char *shared_secret, const unsigned char *enc, const unsigned char *seed);
