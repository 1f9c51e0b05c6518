#!/usr/bin/env bash
# Lets SwiftPM build against the libsodium below PREFIX, statically if it has an archive: writes a pkg-config file and a link into
# .build/sodium-link. The link has another name, because the folder of the system's libraries comes earlier on the linker's
# command line.
#
# Usage: libsodium.sh PREFIX          statically, if there is an archive
#        libsodium.sh PREFIX shared   the shared library, which a shared library needs: Debian's archive is for programs only
set -euo pipefail
[ $# -eq 1 ] || [ "${2:-}" = shared ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 64; }
cd "$(dirname "$0")/../.."

fail() {
    printf 'libsodium: error: %s\n' "$1" >&2
    exit 64
}

prefix=$(cd "$1" 2>/dev/null && pwd) || fail "no folder $1"
[ -f "$prefix/include/sodium.h" ] || fail "$prefix/include has no sodium.h"
names=(libsodium.a libsodium.so libsodium.dylib)
[ $# -eq 1 ] || names=(libsodium.so libsodium.dylib)
library=
for name in "${names[@]}"; do [ -n "$library" ] || [ ! -e "$prefix/lib/$name" ] || library=$prefix/lib/$name; done
[ -n "$library" ] || fail "$prefix/lib has no libsodium"
link=$PWD/.build/sodium-link
rm -rf "$link"
mkdir -p "$link/pkgconfig"
member=
[ "${library##*.}" != a ] || [ "$(uname)" != Linux ] || member=$(ar t "$library" | grep -m 1 'kem_xwing\.o$' || true)
if [ -n "$member" ]; then
    # X-Wing's symbols are weak in Sources/C/CXWing, and linkers do not search archives for those: here its member is always linked.
    (cd "$link" && ar x "$library" "$member")
    printf 'INPUT("%s" "%s")\n' "$link/$member" "$library" >"$link/libsodium-chosen.a"
else
    ln -s "$library" "$link/libsodium-chosen.${library##*.}"
fi
version=$(sed -nE 's/^#define SODIUM_VERSION_STRING "(.*)"/\1/p' "$prefix/include/sodium/version.h")
cat >"$link/pkgconfig/libsodium.pc" <<END
Name: libsodium
Description: libsodium below $prefix
Version: $version
Cflags: -I$prefix/include
Libs: -L$link -lsodium-chosen
END
