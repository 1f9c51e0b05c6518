#!/usr/bin/env bash
# Fetches libsodium 1.0.22 or later from Debian's unstable suite into .build/sodium, and prints that folder, for `make build
# SODIUM=`. Nothing is installed on the system. apt checks the signatures with the system's keys of the Debian archive, and uses
# only folders in .build. Does nothing if the folder is there; delete it to fetch again.
set -euo pipefail
cd "$(dirname "$0")/../../.."

prefix=$PWD/.build/sodium
work=$PWD/.build/sodium-apt
keys=/usr/share/keyrings/debian-archive-keyring.gpg
# An old index could hold back a fix. One past its date, from a mirror that lags, serves only for these files of 1.0.22-2.
known='
0ef6551671d78e5f5f9baca7ce545ae6a5f328e57b8be2d249b52f144fbcb8f9
18d593b1aaab48f126bd3636f009fc5294f948c4960c171b7e73eab9f814f198
'

fail() {
    printf 'sodium: error: %s\n' "$1" >&2
    exit 1
}

fetch() {
    local log=$work/log package dated=yes
    command -v apt-get >/dev/null || fail 'this needs apt-get; on other systems install libsodium 1.0.22 or later'
    [ -f "$keys" ] || fail "no keys of the Debian archive: install debian-archive-keyring"
    rm -rf "$work"
    mkdir -p "$work"/{apt.conf.d,state/lists/partial,cache/archives/partial,packages,unpacked}
    cat >"$work/sources.list" <<END
deb [signed-by=$keys] http://deb.debian.org/debian unstable main
END
    touch "$work/state/status"
    cat >"$work/apt.conf" <<END
Dir::Etc "$work";
Dir::Etc::SourceList "$work/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Trusted "/dev/null";
Dir::Etc::TrustedParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::State "$work/state";
Dir::State::Status "$work/state/status";
Dir::Cache "$work/cache";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
APT::Sandbox::User "";
Binary::apt-get::Acquire::AllowInsecureRepositories "false";
Acquire::AllowInsecureRepositories "false";
END
    export APT_CONFIG=$work/apt.conf
    {
        apt-get -q update || {
            echo 'trying without the date of the index'
            dated=no
            apt-get -q -o Acquire::Check-Valid-Until=false update
        }
        cd "$work/packages"
        apt-get -q download libsodium-dev \
            "$(apt-cache show libsodium-dev | sed -nE '0,/^Depends:/s/^Depends:.*(libsodium[0-9]+(t64)?).*/\1/p')"
    } >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        fail "apt could not fetch libsodium; its output is in $log"
    }
    for package in "$work"/packages/*.deb; do
        [ $dated = yes ] || grep -qx "$(sha256sum <"$package" | cut -d ' ' -f 1)" <<<"$known" ||
            fail "the mirror's index of unstable has expired, and ${package##*/} is not a file that this script knows; try another mirror"
        dpkg-deb -x "$package" "$work/unpacked"
    done
    [ "$(printf '%s\n' 1.0.22 "$(sed -n 's/^Version: //p' "$work"/unpacked/usr/lib/*/pkgconfig/libsodium.pc)" | sort -V | head -n 1)" = 1.0.22 ] ||
        fail 'unstable has a libsodium before 1.0.22'
    cd "$work/unpacked/usr"
    rm -rf "$prefix.new"
    mkdir -p "$prefix.new/lib/pkgconfig"
    mv include "$prefix.new/"
    mv lib/*/libsodium.* "$prefix.new/lib/"
    # A path relative to the file, so that the folder can move.
    sed 's,^prefix=.*,prefix=${pcfiledir}/../..,; s,^libdir=.*,libdir=${prefix}/lib,' lib/*/pkgconfig/libsodium.pc \
        >"$prefix.new/lib/pkgconfig/libsodium.pc"
    mv "$prefix.new" "$prefix"
    rm -rf "$work"
}

[ -f "$prefix/lib/pkgconfig/libsodium.pc" ] || fetch
printf '%s\n' "$prefix"
