#!/usr/bin/env bash
# Packs what `make build` has made. README.md beside this file says what is in it.
# Usage: package.sh deb      .build/packages/pushcrypt_VERSION_ARCHITECTURE.deb
#        package.sh tarball  .build/packages/pushcrypt-VERSION-SYSTEM-MACHINE.tar.gz
#        package.sh check    installs the Debian package into a clean root, and runs the demo there; as root
# SOURCE_DATE_EPOCH is the time in the packages; that of the last commit otherwise.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=.build/release/pushcrypt
out=.build/packages
work=$out/work

fail() {
    echo "package: error: $1" >&2
    exit 1
}

[ -x "$program" ] || fail 'there is no command yet: make build'
version=$("$program" --version | sed -nE 's/^pushcrypt ([0-9.]+) .*/\1/p')
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export LC_ALL=C TZ=UTC
umask 022

# What `make install` puts below a prefix, pages packed, and a folder for the licence.
stage() {
    local root=$1
    Docs/packages/install.sh install "$program" "$root" vendor-completions
    forget_folder "$root/bin/pushcrypt"
    gzip -9n "$root/share/man/man1"/*.1
    install -d "$root/share/doc/pushcrypt"
}

# The folder of the build is mixed into the hashes of Swift's modules, which nothing reads, and so into the identifier of the build,
# which is made anew from the rest.
forget_folder() {
    local offset size sum
    read -r offset size < <(section "$1" .swift_modhash)
    overwrite "$1" "$offset" < <(head -c "$size" /dev/zero)
    read -r offset size < <(section "$1" .note.gnu.build-id)
    # Behind the note's header and its name.
    overwrite "$1" $((offset + 16)) < <(head -c 20 /dev/zero)
    sum=$(sha1sum "$1" | cut -c 1-40)
    # shellcheck disable=SC2059
    overwrite "$1" $((offset + 16)) < <(printf "$(sed 's/../\\x&/g' <<<"$sum")")
}

# Where a section stands in a file, and how long it is.
section() {
    local numbers
    numbers=$(readelf -SW "$1" | sed -nE "s/.* \\$2 +[A-Z]+ +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+) .*/\\1 \\2/p")
    [ -n "$numbers" ] || fail "the command has no section $2"
    echo $((16#${numbers% *})) $((16#${numbers#* }))
}

overwrite() { dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

# A tar file that is the same wherever and by whomever it is made.
archive() {
    tar --create --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" "$@"
}

# The libraries that the command loads, as Debian's packages name them.
dependencies() {
    local folder=$work/shlibs
    mkdir -p "$folder/debian"
    printf 'Source: pushcrypt\n\nPackage: pushcrypt\nArchitecture: any\n' >"$folder/debian/control"
    (cd "$folder" && dpkg-shlibdeps -O "$OLDPWD/$1") | sed -nE 's/^shlibs:Depends=//p'
}

changelog() {
    cat <<END
pushcrypt ($version) unstable; urgency=medium

  * Version $version.

 -- The pushcrypt authors <pushcrypt@example.org>  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
}

copyright() {
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: pushcrypt\n\n'
    printf 'Files: *\nCopyright: 2026 The pushcrypt authors\nLicense: ISC\n'
    # The licence, its title and the line of the copyright left out.
    sed '1,/^Copyright/d' LICENSE | sed -E '1{/^$/d}; s/^$/./; s/^/ /'
    cat Docs/packages/copyright-of-others
}

deb() {
    local root=$work/deb architecture depends file
    architecture=$(dpkg --print-architecture)
    rm -rf "$work" && mkdir -p "$root/DEBIAN"
    stage "$root/usr"
    install -d "$root/lib/systemd/system" "$root/usr/lib/sysusers.d"
    install -m 644 Docs/packages/systemd/pushcrypt-* "$root/lib/systemd/system/"
    install -m 644 Docs/packages/systemd/pushcrypt.sysusers "$root/usr/lib/sysusers.d/pushcrypt.conf"
    changelog | gzip -9n >"$root/usr/share/doc/pushcrypt/changelog.gz"
    copyright >"$root/usr/share/doc/pushcrypt/copyright"
    depends=$(dependencies "$root/usr/bin/pushcrypt")
    cat >"$root/DEBIAN/control" <<END
Package: pushcrypt
Version: $version
Architecture: $architecture
Maintainer: The pushcrypt authors <pushcrypt@example.org>
Installed-Size: $(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f 1)
Depends: $depends
Section: utils
Priority: optional
Description: end-to-end encrypted push notifications
 Seals the content of push notifications on a server, so that a phone's
 notification service extension opens them and nobody on the way can read
 them: neither Apple's push service nor whoever else passes them on.
 .
 Holds the keys of providers and devices, and changes them without losing a
 notification in flight.
END
    (cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum) >"$work/md5sums"
    mv "$work/md5sums" "$root/DEBIAN/md5sums"
    install -m 755 Docs/packages/postinst "$root/DEBIAN/postinst"
    install -m 755 Docs/packages/prerm "$root/DEBIAN/prerm"
    file=$out/pushcrypt_${version}_$architecture.deb
    dpkg-deb --root-owner-group --uniform-compression -Zxz --build "$root" "$file" >/dev/null
    rm -rf "$work"
    lintian --fail-on error,warning --tag-display-limit 0 "$file"
    systemd_check
    echo "$file: $(stat -c %s "$file") bytes, sha256 $(sha256sum "$file" | cut -c 1-64)"
}

# The units are well-formed, and hardened; that the command is not installed here is no fault of theirs.
systemd_check() {
    local unit said
    command -v systemd-analyze >/dev/null || fail 'the units cannot be checked without systemd-analyze: apt-get install systemd'
    said=$(SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no Docs/packages/systemd/pushcrypt-*.{service,socket,timer} 2>&1 |
        grep -v 'Command /usr/bin/pushcrypt is not executable') || true
    [ -z "$said" ] || fail "systemd does not take the units: $said"
    for unit in Docs/packages/systemd/*.service; do
        systemd-analyze security --offline=yes --threshold=10 --no-pager "$unit" >/dev/null || fail "$unit is not hardened enough"
    done
}

tarball() {
    local name file
    name=pushcrypt-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
    file=$out/$name.tar.gz
    rm -rf "$work"
    stage "$work/$name"
    install -m 644 LICENSE README.md "$work/$name/"
    install -d "$work/$name/share/systemd"
    install -m 644 Docs/packages/systemd/* "$work/$name/share/systemd/"
    archive --directory "$work" "$name" | gzip -9n >"$file"
    rm -rf "$work"
    echo "$file: $(stat -c %s "$file") bytes, sha256 $(sha256sum "$file" | cut -c 1-64)"
}

check() {
    local root=$out/root deb
    [ "$(id -u)" -eq 0 ] || fail 'a clean root is made as root: sudo make check-deb'
    deb=$(ls -t "$out"/pushcrypt_*.deb 2>/dev/null | head -n 1)
    [ -n "$deb" ] || fail 'there is no package yet: make deb'
    rm -rf "$root"
    debootstrap --variant=minbase bookworm "$root" >"$out/debootstrap.log" 2>&1 || fail "debootstrap fails: $out/debootstrap.log"
    cp "$deb" "$root/tmp/pushcrypt.deb"
    # Swift's runtime finds a program's arguments there.
    mount -t proc proc "$root/proc"
    trap 'umount "'"$root"'/proc"' EXIT
    chroot "$root" apt-get -qq -y --no-install-recommends install /tmp/pushcrypt.deb >"$out/install.log" 2>&1 ||
        fail "it cannot be installed: $out/install.log"
    chroot "$root" pushcrypt --version
    chroot "$root" pushcrypt demo >"$out/demo.log" || fail "the demo does not run: $out/demo.log"
    chroot "$root" dpkg --verify pushcrypt
    chroot "$root" apt-get -qq -y purge pushcrypt >"$out/purge.log" 2>&1 || fail "it cannot be removed: $out/purge.log"
    umount "$root/proc"
    trap - EXIT
    rm -rf "$root"
    echo "installed into a clean root: the demo ran, every file is as packed, and it could be removed"
}

case ${1:-} in
deb | tarball | check) mkdir -p "$out" && "$1" ;;
*)
    sed -n '3,6s/^# //p' "$0" >&2
    exit 64
    ;;
esac
