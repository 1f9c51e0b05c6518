#!/usr/bin/env bash
# Checks that requirements are installed, and installs missing ones with apt. If nothing is missing, it only runs pkg-config, uses no
# network and prints nothing.
# Usage: setup.sh [WHAT]...     without WHAT, what every target needs: libsodium, SQLite, Swift; else, besides:
#     test          what `make test` needs: what `send` needs, the shells that are completed for, QR codes
#     manual        pandoc, which makes the manual where it is installed or packaged
#     send          pushcrypt-send: libcurl, nghttp2, OpenSSL, and Python's h2 and jwt for its tests
#     library       the C library: Swift 6.3
#     interop       packages of other languages: Node 18, TypeScript, JDK 17, JUnit 5, Go, and Python 3.11 with an environment in
#                   .build/interop and wheels in .build/wheels
#     relay         a publisher's relay: Node 20, a newer Node from PyPI, nginx
#     packages      Debian packages; dist: everything that a release uploads
#     bench         age, callgrind, h2load and nghttpd
#     faults scale senders operations key-services xcode     parts of `make nightly`: see parts.txt
set -euo pipefail
cd "$(dirname "$0")/../.."

fail() {
    printf 'setup: error: %s\n' "$1" >&2
    shift
    [ $# -eq 0 ] || printf 'setup: hint: %s\n' "$@" >&2
    exit 1
}

# Swift 6 of this minor version or later. Asking takes 60 ms, so a positive answer is cached for that exact file.
check_swift() {
    local minor=$1 swift file answer version known=.build/setup.swift-6.$1
    swift=$(command -v swift) || fail "no \`swift\` in the path; 6.$minor or later is needed" \
        'https://www.swift.org/install has it for this system; if it is installed, add its usr/bin folder to PATH'
    file=$(ls -lLi "$swift")
    [ ! -f "$known" ] || [ "$(<"$known")" != "$file" ] || return 0
    answer=$(swift --version 2>&1) || fail "\`$swift --version\` fails: $answer"
    version=$(sed -nE 's/.*Swift version ([0-9]+)\.([0-9]+).*/\1 \2/p' <<<"$answer")
    [ -n "$version" ] || fail "\`$swift --version\` names no version: $answer"
    if [ "${version% *}" -lt 6 ] || { [ "${version% *}" -eq 6 ] && [ "${version#* }" -lt "$minor" ]; }; then
        fail "Swift 6.$minor or later is needed, $swift is ${version/ /.}" 'https://www.swift.org/install has newer ones for this system'
    fi
    mkdir -p .build
    printf '%s\n' "$file" >"$known"
}

# Adds a package to `missing` unless the command that tests for it succeeds.
missing=()
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

# Whether Python from the path, or the system's, has the package.
has_cryptography() {
    local python
    for python in python3 /usr/bin/python3; do
        ! "$python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("cryptography") is None)' || return 0
    done
    return 1
}

# An older version counts as missing.
has_node() {
    node -e "process.exit(process.versions.node.split('.')[0] >= $1 ? 0 : 1)"
}

has_jdk_17() {
    local version
    version=$(javac -version 2>&1) && version=${version#javac } && [ "${version%%.*}" -ge 17 ] && command -v java
}

find_missing() {
    missing=()
    add_missing "$1"
}

add_missing() {
    case $1 in
    build)
        need pkg-config command -v pkg-config
        need libsodium-dev pkg-config --exists 'libsodium >= 1.0.18'
        need libsqlite3-dev pkg-config --exists 'sqlite3 >= 3.36'
        # The tests of attachments download from a server in Python.
        need python3 command -v python3
        need openssl command -v openssl
        # Its keys come in, and it reads what goes out.
        need python3-cryptography has_cryptography
        ;;
    send)
        need libnghttp2-dev pkg-config --exists 'libnghttp2 >= 1.43'
        need libcurl4-openssl-dev pkg-config --exists 'libcurl >= 7.81'
        need libssl-dev pkg-config --exists 'openssl >= 3.0'
        # The system's Python, whichever is in the path.
        need python3-h2 /usr/bin/python3 -c 'import h2'
        need python3-jwt /usr/bin/python3 -c 'import jwt'
        need python3-cryptography /usr/bin/python3 -c 'import cryptography'
        ;;
    test)
        add_missing send
        need zsh command -v zsh
        need fish command -v fish
        need faketime command -v faketime
        # The provider key on paper, and its scan.
        need qrencode command -v qrencode
        need zbar-tools command -v zbarimg
        ;;
    relay)
        add_missing send
        need nodejs has_node 20
        need nginx-light env PATH="$PATH:/usr/sbin" sh -c 'command -v nginx'
        need util-linux command -v prlimit
        need python3-venv python3 -c 'import ensurepip'
        ;;
    bench)
        need age command -v age
        need valgrind command -v valgrind
        need time test -x /usr/bin/time
        need nghttp2-client command -v h2load
        need nghttp2-server command -v nghttpd
        ;;
    scale)
        need python3-venv python3 -c 'import ensurepip'
        need redis-server command -v redis-server
        need default-jre-headless command -v java
        # Its programs are not in the path.
        need postgresql compgen -G '/usr/lib/postgresql/*/bin/initdb'
        ;;
    senders)
        need python3-venv python3 -c 'import ensurepip'
        ;;
    faults)
        need python3 command -v python3
        need strace command -v strace
        need gcc command -v cc
        ;;
    manual) need pandoc command -v pandoc ;;
    packages)
        add_missing manual
        need dpkg-dev command -v dpkg-shlibdeps
        need lintian command -v lintian
        need systemd command -v systemd-analyze
        need debootstrap command -v debootstrap
        ;;
    library) ;;
    key-services)
        need softhsm2 command -v softhsm2-util
        need python3-pykcs11 /usr/bin/python3 -c 'import PyKCS11'
        need python3-cryptography /usr/bin/python3 -c 'import cryptography'
        ;;
    operations)
        add_missing send
        need prometheus command -v promtool
        ;;
    dist)
        add_missing packages
        add_missing interop
        ;;
    interop)
        need python3 python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'
        need python3-venv python3 -c 'import ensurepip'
        need nodejs has_node 18
        need npm command -v npm
        need node-typescript command -v tsc
        need openjdk-17-jdk-headless has_jdk_17
        need junit5 test -f /usr/share/java/junit-platform-console.jar
        need golang-go command -v go
        need golang-golang-x-crypto-dev test -d /usr/share/gocode/src/golang.org/x/crypto
        ;;
    xcode)
        need python3-venv python3 -c 'import ensurepip'
        need llvm command -v llvm-nm
        ;;
    *) fail "unknown setup: $1" ;;
    esac
}

# A Python environment with exactly the pinned versions (python-packages.txt), recreated when the files change.
environment() {
    local folder=.build/$1 sum file
    shift
    sum=$(cat "$@" | cksum)
    [ ! -f "$folder/pinned" ] || [ "$(<"$folder/pinned")" != "$sum" ] || return 0
    echo "setup: installing a Python environment in $folder"
    mkdir -p .build
    rm -rf "$folder"
    {
        python3 -m venv "$folder"
        for file; do
            "$folder/bin/pip" install --disable-pip-version-check --no-input --require-hashes --no-build-isolation -r "$file"
        done
    } >.build/setup.log 2>&1 || {
        tail -n 20 .build/setup.log >&2
        fail "pip could not install what ${file:-venv} needs; its output is in .build/setup.log"
    }
    printf '%s\n' "$sum" >"$folder/pinned"
}

# Wheels of exactly the pinned versions in .build/wheels, for installations without a network.
wheels() {
    local folder=.build/wheels sum
    sum=$(cksum <"$1")
    [ ! -f "$folder/pinned" ] || [ "$(<"$folder/pinned")" != "$sum" ] || return 0
    rm -rf "$folder"
    .build/interop/bin/pip download --disable-pip-version-check --no-input --require-hashes --only-binary :all: -r "$1" -d "$folder" \
        >.build/setup.log 2>&1 || fail "pip could not download what $1 needs; its output is in .build/setup.log"
    printf '%s\n' "$sum" >"$folder/pinned"
}

install_missing() {
    local log=.build/setup.log as_root=() server
    command -v apt-get >/dev/null || fail "missing: ${missing[*]}" 'these are names of Debian; other systems have other names for them'
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "missing: ${missing[*]}" "as root: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    echo "setup: installing ${missing[*]}"
    mkdir -p .build
    # An unreachable source does not matter if the others have the packages, so only the second command decides.
    {
        "${as_root[@]}" apt-get -q update || true
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 --no-install-recommends install "${missing[@]}"
    } >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        fail "apt-get could not install ${missing[*]}; its output is in $log"
    }
    # Debian starts a server after installing it, but the tests start their own.
    for server in redis-server prometheus postgresql; do
        if [[ " ${missing[*]} " == *" $server "* && -d /run/systemd/system ]]; then
            "${as_root[@]}" systemctl disable --now "$server" >>"$log" 2>&1 || true
        fi
    done
}

setup() {
    local what=$1
    case $what in
    build) check_swift 2 ;;
    library) check_swift 3 ;;
    esac
    find_missing "$what"
    if [ ${#missing[@]} -gt 0 ]; then
        install_missing
        find_missing "$what"
        [ ${#missing[@]} -eq 0 ] || fail "${missing[*]}: installed, but older than needed" \
            'libsodium 1.0.18 and SQLite 3.36 or later are needed: Debian 12, Ubuntu 22.04 or later have them' \
            'interop needs Node 18, JDK 17 and Python 3.11 or later, each the first of its name in PATH: Debian 12 has them' \
            'relay needs Node 20 or later: Debian 13 has it'
    fi
    case $what in
    scale) environment scale Tests/Checks/Pipelines/build-requirements.txt Tests/Checks/Pipelines/requirements.txt ;;
    relay) environment relay Tests/Checks/Relay/requirements.txt ;;
    senders) environment senders Tests/Checks/Packages/senders-requirements.txt ;;
    xcode) environment xcode Tests/Checks/Pipelines/build-requirements.txt Tests/Checks/Xcode/requirements.txt ;;
    dist) environment dist Tests/Checks/Release/requirements.txt ;;
    interop)
        environment interop Tests/Checks/Interop/requirements.txt Tests/Checks/Packages/requirements.txt
        wheels Tests/Checks/Interop/requirements.txt
        ;;
    esac
}

[ $# -gt 0 ] || set -- build
for what; do setup "$what"; done
