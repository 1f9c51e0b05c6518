#include "xwing.h"

// In swift-sodium up to 0.10 the headers lie at the root of the framework; in its master, and in our own framework, in a folder.
#if __has_include(<sodium.h>)
#include <sodium.h>
#else
#include <Clibsodium/sodium.h>
#endif

#if __has_include(<sodium/crypto_kem_xwing.h>) || __has_include(<Clibsodium/sodium/crypto_kem_xwing.h>)
#if __has_include(<sodium/crypto_kem_xwing.h>)
#include <sodium/crypto_kem_xwing.h>
#else
#include <Clibsodium/sodium/crypto_kem_xwing.h>
#endif

// A library with the same soname may lack them: then suite 2 is not supported, and the program starts. Linkers do not search
// archives for weak symbols: see `Sources/Packaging/libsodium.sh`.
#ifdef __ELF__
#pragma weak crypto_kem_xwing_seed_keypair
#pragma weak crypto_kem_xwing_enc_deterministic
#pragma weak crypto_kem_xwing_dec
#define HAS_SYMBOLS (crypto_kem_xwing_seed_keypair && crypto_kem_xwing_enc_deterministic && crypto_kem_xwing_dec)
#else
#define HAS_SYMBOLS 1
#endif

_Static_assert(crypto_kem_xwing_PUBLICKEYBYTES == 1216, "X-Wing's public key");
_Static_assert(crypto_kem_xwing_CIPHERTEXTBYTES == 1120, "X-Wing's ciphertext");
_Static_assert(crypto_kem_xwing_SECRETKEYBYTES == 32 && crypto_kem_xwing_SEEDBYTES == 32, "X-Wing's seed is its secret key");

int pushcrypt_xwing_is_available(void) {
    int major = sodium_library_version_major();
    return HAS_SYMBOLS && (major > 26 || (major == 26 && sodium_library_version_minor() >= 4));
}

int pushcrypt_xwing_public_key(unsigned char *public_key, const unsigned char *seed) {
    unsigned char copy[crypto_kem_xwing_SECRETKEYBYTES];
    int code = crypto_kem_xwing_seed_keypair(public_key, copy, seed);
    sodium_memzero(copy, sizeof copy);
    return code;
}

int pushcrypt_xwing_encapsulate(
    unsigned char *enc, unsigned char *shared_secret, const unsigned char *public_key, const unsigned char *randomness) {
    return crypto_kem_xwing_enc_deterministic(enc, shared_secret, public_key, randomness);
}

int pushcrypt_xwing_decapsulate(unsigned char *shared_secret, const unsigned char *enc, const unsigned char *seed) {
    return crypto_kem_xwing_dec(shared_secret, enc, seed);
}

#else

int pushcrypt_xwing_is_available(void) { return 0; }

int pushcrypt_xwing_public_key(unsigned char *public_key, const unsigned char *seed) {
    (void)public_key, (void)seed;
    return -1;
}

int pushcrypt_xwing_encapsulate(
    unsigned char *enc, unsigned char *shared_secret, const unsigned char *public_key, const unsigned char *randomness) {
    (void)enc, (void)shared_secret, (void)public_key, (void)randomness;
    return -1;
}

int pushcrypt_xwing_decapsulate(unsigned char *shared_secret, const unsigned char *enc, const unsigned char *seed) {
    (void)shared_secret, (void)enc, (void)seed;
    return -1;
}

#endif
