#!/usr/bin/env bash
# Packages the output of `make build` and `make build LIBRARY=1`. README.md beside this file describes the contents.
# Usage: package.sh deb      .build/packages/NAME_VERSION_ARCHITECTURE.deb: pushcrypt, pushcrypt-send, libpushcrypt0, libpushcrypt-dev
#                            pushcrypt-relay_VERSION_all.deb, a publisher's relay
#        package.sh tarball  .build/packages/pushcrypt-VERSION-SYSTEM-MACHINE.tar.gz
#        package.sh check    installs the Debian packages into a clean root, and runs the demo there; as root
# SOURCE_DATE_EPOCH is the time in the packages; by default that of the last commit.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=.build/release/pushcrypt
library=.build/release/libpushcrypt.so.0
out=.build/packages
work=$out/work

fail() {
    echo "package: error: $1" >&2
    exit 1
}

[ -x "$program" ] || fail 'there is no command yet: make build'
[ -x "$program-send" ] || fail 'there is no program that sends yet: make build'
[ -f "$library" ] || fail 'there is no library yet: make build LIBRARY=1'
version=$(Sources/Packaging/version.sh) debian_version=$(Sources/Packaging/version.sh debian)
[[ $("$program" --version) = "pushcrypt $version "* ]] || fail 'the command has another version: make build'
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export LC_ALL=C TZ=UTC
umask 022

# The files of `make install`, with compressed manual pages, and the folder for documents.
stage() {
    local root=$1
    Sources/Packaging/install.sh install "$program" "$root" vendor-completions
    forget_folder "$root/bin/pushcrypt"
    gzip -9n "$root/share/man/man1"/*.1
    install -d "$root/share/doc/pushcrypt"
    "$program" help --json | Sources/Packaging/manual.py document "$root/share/doc/pushcrypt/CommandLine.md"
}

stage_send() {
    Sources/Packaging/install.sh send "$program-send" "$1"
    forget_folder "$1/bin/pushcrypt-send"
}

# The library and what compilers need, in a folder of a prefix; a third argument is the final prefix.
stage_library() {
    Sources/Packaging/install.sh library "$library" "$@"
    forget_folder "$1/$2/libpushcrypt.so.0"
}

# The build folder affects the hashes of Swift's modules, which nothing reads, and so the build identifier, which is
# recomputed from the rest.
forget_folder() {
    local offset size sum
    read -r offset size < <(section "$1" .swift_modhash)
    overwrite "$1" "$offset" < <(head -c "$size" /dev/zero)
    read -r offset size < <(section "$1" .note.gnu.build-id)
    # After the note's header and its name.
    overwrite "$1" $((offset + 16)) < <(head -c 20 /dev/zero)
    sum=$(sha1sum "$1" | cut -c 1-40)
    # shellcheck disable=SC2059
    overwrite "$1" $((offset + 16)) < <(printf "$(sed 's/../\\x&/g' <<<"$sum")")
}

# The offset and length of a section in a file.
section() {
    local numbers
    numbers=$(readelf -SW "$1" | sed -nE "s/.* \\$2 +[A-Z]+ +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+) .*/\\1 \\2/p")
    [ -n "$numbers" ] || fail "$1 has no section $2"
    echo $((16#${numbers% *})) $((16#${numbers#* }))
}

overwrite() { dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }

# A tar file that does not depend on the machine or the user.
archive() {
    tar --create --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" "$@"
}

# The parts of a source package that Debian's programs require.
debian_source() {
    mkdir -p "$work/source/debian"
    printf 'Source: pushcrypt\n\nPackage: %s\nArchitecture: any\n' "$1" >"$work/source/debian/control"
    echo "$work/source"
}

# The libraries that a file of a package loads, as Debian's packages name them.
dependencies() {
    (cd "$(debian_source "$1")" && dpkg-shlibdeps -O "$OLDPWD/$2") | sed -nE 's/^shlibs:Depends=//p'
}

changelog() {
    cat <<END
pushcrypt ($debian_version) unstable; urgency=medium

  * Version $version.

 -- The pushcrypt authors <pushcrypt@example.org>  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
}

# With the files, if any, that contain libraries of others.
copyright() {
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: pushcrypt\n\n'
    printf 'Files: *\nCopyright: 2026 The pushcrypt authors\nLicense: ISC\n'
    # The licence, without its title and the copyright line.
    sed '1,/^Copyright/d' LICENSE | sed -E '1{/^$/d}; s/^$/./; s/^/ /'
    [ -z "$1" ] || sed "s|@FILES@|$1|" Sources/Packaging/copyright-of-others
}

# Creates a package from its folder in `work`, with its own lines of `control` and its description from standard input.
pack() {
    local name=$1 root=$work/$1 file=$out/$1_${debian_version}_$architecture.deb
    install -d "$root/DEBIAN" "$root/usr/share/doc/$name"
    changelog | gzip -9n >"$root/usr/share/doc/$name/changelog.gz"
    copyright "$2" >"$root/usr/share/doc/$name/copyright"
    {
        printf 'Package: %s\nVersion: %s\nArchitecture: %s\n' "$name" "$debian_version" "$architecture"
        printf 'Maintainer: The pushcrypt authors <pushcrypt@example.org>\n'
        printf 'Installed-Size: %s\n' "$(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f 1)"
        printf 'Priority: optional\n'
        cat
    } >"$root/DEBIAN/control"
    (cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum) >"$work/md5sums"
    mv "$work/md5sums" "$root/DEBIAN/md5sums"
    dpkg-deb --root-owner-group --uniform-compression -Zxz --build "$root" "$file" >/dev/null
    lintian --fail-on error,warning --tag-display-limit 0 "$file"
    echo "$file: $(stat -c %s "$file") bytes, sha256 $(sha256sum "$file" | cut -c 1-64)"
}

deb() {
    architecture=$(dpkg --print-architecture)
    rm -rf "$work"
    deb_command
    deb_send
    deb_library
    deb_development
    architecture=all deb_relay
    rm -rf "$work"
    systemd_check
}

deb_command() {
    local root=$work/pushcrypt depends
    stage "$root/usr"
    # Its page goes with the program.
    install -d "$work/pushcrypt-send/usr/share/man/man1"
    mv "$root/usr/share/man/man1/pushcrypt-send.1.gz" "$work/pushcrypt-send/usr/share/man/man1/"
    install -d "$root/lib/systemd/system" "$root/usr/lib/sysusers.d"
    install -m 644 Sources/Packaging/systemd/pushcrypt-{rotate,seal}* "$root/lib/systemd/system/"
    install -m 644 Sources/Packaging/systemd/pushcrypt.sysusers "$root/usr/lib/sysusers.d/pushcrypt.conf"
    install -D -m 755 Sources/Packaging/postinst "$root/DEBIAN/postinst"
    install -m 755 Sources/Packaging/prerm "$root/DEBIAN/prerm"
    depends=$(dependencies pushcrypt "$root/usr/bin/pushcrypt")
    pack pushcrypt usr/bin/pushcrypt <<END
Depends: $depends
Suggests: pushcrypt-send
Section: utils
Description: end-to-end encrypted push notifications
 Seals the content of push notifications on a server, so that a phone's
 notification service extension opens them and nobody on the way can read
 them: neither Apple's push service nor any other relay.
 .
 Holds the keys of providers and devices, and changes them without losing a
 notification in flight.
END
}

deb_send() {
    local root=$work/pushcrypt-send depends
    stage_send "$root/usr"
    depends=$(dependencies pushcrypt-send "$root/usr/bin/pushcrypt-send")
    pack pushcrypt-send usr/bin/pushcrypt-send <<END
Depends: pushcrypt (= $debian_version), $depends
Source: pushcrypt
Section: utils
Description: end-to-end encrypted push notifications (sending)
 Brings sealed push notifications to Apple's push service over HTTP/2, with a
 token or a certificate, tries again without ringing twice, and says what the
 service answers.
 .
 This package has the program behind the command "pushcrypt send".
END
}

deb_library() {
    local root=$work/libpushcrypt0 folder depends
    folder=lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH)
    stage_library "$root/usr" "$folder" /usr
    # What compilers need is a separate package.
    install -d "$work/libpushcrypt-dev/usr/$folder"
    mv "$root/usr/include" "$work/libpushcrypt-dev/usr/"
    mv "$root/usr/$folder"/{libpushcrypt.so,pkgconfig} "$work/libpushcrypt-dev/usr/$folder/"
    install -d "$root/DEBIAN"
    printf 'libpushcrypt 0 libpushcrypt0 (>= %s)\n' "$debian_version" >"$root/DEBIAN/shlibs"
    printf 'activate-noawait ldconfig\n' >"$root/DEBIAN/triggers"
    # Fails if the library's symbols differ from the list, which has the first version of each.
    (cd "$(debian_source libpushcrypt0)" && dpkg-gensymbols -c4 -plibpushcrypt0 -v"$debian_version" -P"$OLDPWD/$root" \
        -I"$OLDPWD/Sources/Packaging/libpushcrypt0.symbols" -O"$OLDPWD/$root/DEBIAN/symbols")
    depends=$(dependencies libpushcrypt0 "$root/usr/$folder/libpushcrypt.so.0")
    pack libpushcrypt0 "usr/$folder/libpushcrypt.so.0" <<END
Depends: $depends
Source: pushcrypt
Multi-Arch: same
Section: libs
Description: end-to-end encrypted push notifications (library)
 Seals the content of push notifications on a server, so that a phone's
 notification service extension opens them and nobody on the way can read
 them: neither Apple's push service nor any other relay.
 .
 This package has the library for programs that are not in Swift.
END
}

deb_development() {
    pack libpushcrypt-dev '' <<END
Depends: libpushcrypt0 (= $debian_version)
Source: pushcrypt
Multi-Arch: same
Section: libdevel
Description: end-to-end encrypted push notifications (development)
 Seals the content of push notifications on a server, so that a phone's
 notification service extension opens them and nobody on the way can read
 them: neither Apple's push service nor any other relay.
 .
 This package has the header of the library, whose comments are its reference.
END
}

# Debian 12 has an older Node: so `check`, whose root is one, leaves this package out.
deb_relay() {
    local root=$work/pushcrypt-relay share=usr/share/pushcrypt-relay
    install -d "$root/$share" "$root/lib/systemd/system" "$root/usr/lib/sysusers.d" "$root/usr/share/doc/pushcrypt-relay"
    install -m 644 Sources/Relay/*.mjs "$root/$share/"
    chmod 755 "$root/$share/serve.mjs"
    install -m 644 Docs/SelfHosted.md Docs/Relay.md "$root/usr/share/doc/pushcrypt-relay/"
    install -m 644 Sources/Packaging/systemd/pushcrypt-relay.service "$root/lib/systemd/system/"
    printf 'u pushcrypt-relay - "Relay to APNs" /var/lib/pushcrypt-relay\n' >"$root/usr/lib/sysusers.d/pushcrypt-relay.conf"
    pack pushcrypt-relay '' <<END
Depends: nodejs (>= 20)
Source: pushcrypt
Section: net
Description: relay of self-hosted servers to the Apple push service
 Users of an app run their own servers, and only its publisher has Apple's
 key: this relay takes what they have sealed, and gives it to Apple without
 reading it. Answers of phones wait in it for their servers.
END
}

# The units are well-formed and hardened; it is not an error that the command is not installed here.
systemd_check() {
    local unit said most
    command -v systemd-analyze >/dev/null || fail 'the units cannot be checked without systemd-analyze: apt-get install systemd'
    said=$(SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no Sources/Packaging/systemd/pushcrypt-*.{service,socket,timer} 2>&1 |
        grep -vE 'Command /usr/bin/(pushcrypt|node) is not executable') || true
    [ -z "$said" ] || fail "systemd does not take the units: $said"
    for unit in Sources/Packaging/systemd/*.service; do
        # The relay has a network, and its engine compiles what it runs.
        [ "${unit##*/}" = pushcrypt-relay.service ] && most=15 || most=10
        systemd-analyze security --offline=yes --threshold=$most --no-pager "$unit" >/dev/null || fail "$unit is not hardened enough"
    done
}

tarball() {
    local name file
    name=pushcrypt-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
    file=$out/$name.tar.gz
    rm -rf "$work"
    stage "$work/$name"
    stage_send "$work/$name"
    stage_library "$work/$name" lib
    install -m 644 LICENSE README.md "$work/$name/"
    install -d "$work/$name/share/systemd"
    install -m 644 Sources/Packaging/systemd/* "$work/$name/share/systemd/"
    archive --directory "$work" "$name" | gzip -9n >"$file"
    rm -rf "$work"
    echo "$file: $(stat -c %s "$file") bytes, sha256 $(sha256sum "$file" | cut -c 1-64)"
}

check() {
    local root=$out/root packages=(pushcrypt pushcrypt-send libpushcrypt0 libpushcrypt-dev) files=() package deb
    [ "$(id -u)" -eq 0 ] || fail 'a clean root is made as root: sudo make nightly PART=debian'
    rm -rf "$root"
    debootstrap --variant=minbase bookworm "$root" >"$out/debootstrap.log" 2>&1 || fail "debootstrap fails: $out/debootstrap.log"
    for package in "${packages[@]}"; do
        deb=$(ls -t "$out/${package}"_*.deb 2>/dev/null | head -n 1)
        [ -n "$deb" ] || fail "there is no package $package yet: make packages"
        cp "$deb" "$root/tmp/"
        files+=("/tmp/${deb##*/}")
    done
    # Swift's runtime finds a program's arguments there.
    mount -t proc proc "$root/proc"
    trap 'umount "'"$root"'/proc"' EXIT
    chroot "$root" apt-get -qq -y --no-install-recommends install "${files[@]}" >"$out/install.log" 2>&1 ||
        fail "it cannot be installed: $out/install.log"
    chroot "$root" pushcrypt --version
    chroot "$root" pushcrypt demo >"$out/demo.log" || fail "the demo does not run: $out/demo.log"
    check_send "$root"
    check_library "$root"
    chroot "$root" dpkg --verify "${packages[@]}"
    chroot "$root" apt-get -qq -y purge "${packages[@]}" >"$out/purge.log" 2>&1 || fail "it cannot be removed: $out/purge.log"
    umount "$root/proc"
    trap - EXIT
    rm -rf "$root"
    echo "installed into a clean root: the demo and a program in C ran, a line was read for APNs, every file is as packed, and all could be removed"
}

# The program that sends is found, loads its libraries, reads a line and looks for a server.
check_send() {
    local said line='{"token":"0a","topic":"com.example.app","payload":{"aps":{}}}'
    [ "$(chroot "$1" pushcrypt send --dry-run <<<"$line")" = '{"dry_run":true,"token":"0a"}' ] || fail 'nothing can be sent'
    # It ends with 1, because there is no such host.
    said=$(chroot "$1" pushcrypt doctor --send --host no-such-name.invalid || true)
    grep -q 'could not resolve host' <<<"$said" || fail "the way to APNs cannot be checked: $said"
}

# The C example of Sources/Languages/c/README.md, compiled here against the files installed there, and run there.
check_library() {
    local root=$1 folder
    folder=$(dirname "$(find "$root/usr/lib" -name pushcrypt.pc)")
    Tests/Checks/block.sh 'example: seal.c' Sources/Languages/c/README.md >"$out/seal.c"
    # shellcheck disable=SC2046
    clang "$out/seal.c" $(PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$folder PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 \
        PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config --cflags --libs pushcrypt) -Wl,--allow-shlib-undefined -o "$root/tmp/seal"
    chroot "$root" bash -euc '
        cd /tmp
        pushcrypt key new provider -o provider.key >provider.pub
        pushcrypt key new device -o phone.key >phone.pub
        echo "{\"aps\":{\"alert\":\"Your table is ready\"}}" | ./seal provider.key "$(cat phone.pub)" |
            pushcrypt open --json --device-key-file phone.key --provider "$(cat provider.pub)" --topic com.example.app |
            grep -q "\"outcome\":\"opened\""' || fail 'the library does not run'
}

case ${1:-} in
deb | tarball | check) mkdir -p "$out" && "$1" ;;
*)
    sed -n '3,7s/^# //p' "$0" >&2
    exit 64
    ;;
esac
