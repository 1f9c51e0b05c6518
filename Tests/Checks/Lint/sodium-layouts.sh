#!/usr/bin/env bash
# Compiles what includes libsodium's headers, and imports them into Swift, with each place where an Apple framework of libsodium has
# had them: swift-sodium 0.9.1 and 0.10.0, its master, and our own framework with a libsodium that has X-Wing. The headers here only
# declare what is used.
set -euo pipefail
cd "$(dirname "$0")/../../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    printf 'sodium-layouts: error: %s\n' "$1" >&2
    exit 1
}

# Writes headers into a folder. With X-Wing only a library like 1.0.22 has them.
write_headers() { # FOLDER [xwing]
    mkdir -p "$1/sodium"
    echo 'void sodium_memzero(void *, unsigned long);' >"$1/sodium/utils.h"
    printf '%s\n' '#include "sodium/utils.h"' 'int sodium_init(void);' 'int sodium_library_version_major(void);' \
        'int sodium_library_version_minor(void);' >"$1/sodium.h"
    echo 'module Clibsodium { header "sodium.h" export * }' >"$1/module.modulemap"
    [ "${2-}" = xwing ] || return 0
    cat >"$1/sodium/crypto_kem_xwing.h" <<'END'
#define crypto_kem_xwing_PUBLICKEYBYTES 1216U
#define crypto_kem_xwing_CIPHERTEXTBYTES 1120U
#define crypto_kem_xwing_SECRETKEYBYTES 32U
#define crypto_kem_xwing_SEEDBYTES 32U
int crypto_kem_xwing_seed_keypair(unsigned char *, unsigned char *, const unsigned char *);
int crypto_kem_xwing_enc_deterministic(unsigned char *, unsigned char *, const unsigned char *, const unsigned char *);
int crypto_kem_xwing_dec(unsigned char *, const unsigned char *, const unsigned char *);
END
}

write_headers "$work/0.9.1"
write_headers "$work/0.10.0"
write_headers "$work/master/Clibsodium"
write_headers "$work/own/Clibsodium" xwing
printf 'import Clibsodium\nfunc start() -> Int32 { sodium_init() }\n' >"$work/user.swift"

for layout in 0.9.1 0.10.0 master own; do
    # Nothing of this system's, as in a build for Apple's; the few headers of C itself come from the compiler.
    clang -fsyntax-only -ffreestanding -nostdlibinc -Wall -Wextra -Werror -I "$work/$layout" -I Sources/C/CXWing/include Sources/C/CXWing/xwing.c ||
        fail "the headers of $layout do not compile"
    # X-Wing is used where it is declared.
    clang -E -ffreestanding -nostdlibinc -I "$work/$layout" -I Sources/C/CXWing/include Sources/C/CXWing/xwing.c >"$work/expanded"
    [ "$(grep -c 'crypto_kem_xwing_dec(' "$work/expanded")" -gt 0 ] && has=yes || has=no
    [ $has = "$([ $layout = own ] && echo yes || echo no)" ] || fail "X-Wing with the headers of $layout: $has"
    swiftc -typecheck -module-cache-path "$work/cache-$layout" -I "$work/$layout" "$work/user.swift" ||
        fail "Swift does not import the headers of $layout"
done
echo "sodium-layouts: 4 layouts of libsodium's headers compile"
