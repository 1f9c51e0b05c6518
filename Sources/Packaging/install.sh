#!/usr/bin/env bash
# The stripped programs with manual pages and completions, and the C library, below a prefix. The only list of installed files: `make
# install`, `make uninstall` and package.sh use it.
# Usage: install.sh install PROGRAM PREFIX [ZSH-FOLDER]      ZSH-FOLDER below share/zsh: site-functions, unless it is given
#        install.sh send PROGRAM PREFIX                      the stripped program behind `pushcrypt send`, and what watches it
#        install.sh library LIBRARY PREFIX [FOLDER [FINAL]]  the stripped C library in FOLDER (lib), and what compilers need; FINAL is the
#                                                            prefix that it will have, otherwise the files may move
#        install.sh remove PREFIX                            what these have put there, and nothing else
set -euo pipefail
umask 022

pages=share/man/man1
# The documents that help pages name, under the same paths.
documents=share/doc/pushcrypt/Docs
# Rules for Prometheus, and a dashboard for Grafana.
monitoring=share/doc/pushcrypt-send/monitoring

# Each shell's own folder.
completions() {
    echo "bash share/bash-completion/completions/pushcrypt"
    echo "zsh share/zsh/${1:-site-functions}/_pushcrypt"
    echo "fish share/fish/vendor_completions.d/pushcrypt.fish"
}

remove_pages() { rm -f "$1/$pages/pushcrypt.1" "$1/$pages"/pushcrypt-*.1; }

case ${1:-} in
install)
    program=$2 prefix=$3
    install -d "$prefix/bin" "$prefix/$pages"
    install -s -m 755 "$program" "$prefix/bin/pushcrypt"
    # Pages of an earlier version may describe removed commands.
    remove_pages "$prefix"
    "$program" help --json | "$(dirname "$0")/manual.py" pages "$prefix/$pages"
    completions "${4:-}" | while read -r shell file; do
        install -d "$prefix/${file%/*}"
        "$program" completions "$shell" >"$prefix/$file"
    done
    sources=$(dirname "$0")/../..
    install -d "$prefix/$documents"
    install -m 644 "$sources"/Docs/*.md "$prefix/$documents/"
    ;;
send)
    install -d "$3/bin" "$3/$monitoring"
    install -s -m 755 "$2" "$3/bin/pushcrypt-send"
    install -m 644 "$(dirname "$0")"/monitoring/pushcrypt-send.{rules.yml,dashboard.json} "$3/$monitoring/"
    ;;
library)
    prefix=$3 folder=${4:-lib}
    sources=$(dirname "$0")/..
    install -d "$prefix/$folder/pkgconfig" "$prefix/include"
    install -s -m 644 "$2" "$prefix/$folder/libpushcrypt.so.0"
    ln -sf libpushcrypt.so.0 "$prefix/$folder/libpushcrypt.so"
    install -m 644 "$sources/PushcryptC/include/pushcrypt.h" "$prefix/include/"
    cat >"$prefix/$folder/pkgconfig/pushcrypt.pc" <<END
prefix=${5:-\${pcfiledir\}/../..}
includedir=\${prefix}/include
libdir=\${prefix}/$folder

Name: pushcrypt
Description: end-to-end encrypted push notifications
Version: $("$sources/Packaging/version.sh")
Cflags: -I\${includedir}
Libs: -L\${libdir} -lpushcrypt
END
    ;;
remove)
    prefix=$2
    rm -f "$prefix"/bin/pushcrypt{,-send} "$prefix"/lib/{libpushcrypt.so{,.0},pkgconfig/pushcrypt.pc} "$prefix/include/pushcrypt.h"
    remove_pages "$prefix"
    completions | while read -r _ file; do rm -f "$prefix/$file"; done
    rm -rf "${prefix:?}/$documents" "${prefix:?}/$monitoring"
    ;;
*)
    sed -n '4,8s/^# //p' "$0" >&2
    exit 64
    ;;
esac
