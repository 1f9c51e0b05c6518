#!/usr/bin/env bash
# Follows README.md as a new user, in a Debian 12 with nothing but Swift, its own dependencies, make and git: so it
# tests what `make setup` installs. Needs root, debootstrap and the network; this machine's Swift is mounted read-only.
# Usage: clean-root.sh
set -euo pipefail
cd "$(dirname "$0")/../../.."

fail() {
    echo "clean-root: error: $1" >&2
    exit 1
}
[ "$(id -u)" -eq 0 ] || fail "this script must run as root"
command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"
swift=$(realpath "$(command -v swift)")
# A toolchain is any folder with usr/bin/swift in it.
toolchain=${swift%/usr/bin/*}
[ -x "$toolchain/usr/bin/swift" ] && [ -n "$toolchain" ] || fail "$swift is not in a separate toolchain folder that can be mounted"

place=$(mktemp -d)
# The mounts below are in a separate namespace, and disappear with it.
trap 'rm -rf --one-file-system "$place"' EXIT
packages=make,git,ca-certificates,binutils,libc6-dev,libgcc-12-dev,libstdc++-12-dev,libcurl4,libedit2,libncurses6,libsqlite3-0,libxml2,tzdata,zlib1g
echo "clean-root: a Debian 12 with $packages"
debootstrap --variant=minbase --include="$packages" bookworm "$place/root" http://deb.debian.org/debian >"$place/log" 2>&1 ||
    { tail -n 5 "$place/log" >&2; fail "debootstrap"; }
cp /etc/resolv.conf "$place/root/etc/"
mkdir -p "$place/root/toolchain" "$place/root/srv/checkout"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$place/root/srv/checkout"

unshare --mount bash -euc '
    mount --bind "$2" "$1/toolchain"
    mount -o remount,bind,ro "$1/toolchain"
    mount -t proc proc "$1/proc"
    mount --bind /dev "$1/dev"
    env -i HOME=/root TERM=dumb LANG=C.UTF-8 PATH=/toolchain/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot "$1" bash -euc "
        cd /srv/checkout
        git init -q
        git add -A
        Tests/Checks/Readme/first-minutes.sh"' - "$place/root" "$toolchain"
