#!/usr/bin/env bash
# Builds what users of another language download. Two builds give the same bytes. `make setup PART=interop` installs what this needs.
# Usage: languages.sh python FOLDER       the source distribution and, from it, the wheel
#        languages.sh javascript FOLDER   the npm tarball
#        languages.sh java FOLDER         the jars (classes, sources, documentation) and the POM
#        languages.sh go FOLDER           a folder that Go takes the module from (GOPROXY)
set -euo pipefail
[ $# -eq 2 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 64; }
mkdir -p "$2"
out=$(cd "$2" && pwd)
cd "$(dirname "$0")/../.."
version=$(Sources/Packaging/version.sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
export LC_ALL=C.UTF-8 TZ=UTC

# A copy without links and, as far as possible, without the modes of this checkout.
copy() { cp -RL --no-preserve=mode "Sources/Languages/$1" "$work/$1"; }

python() {
    copy python
    SOURCE_DATE_EPOCH=1735689600 .build/interop/bin/python -m build --no-isolation --outdir "$out" "$work/python" >"$work/log" 2>&1 ||
        { tail -n 30 "$work/log" >&2; return 1; }
}

javascript() {
    copy javascript
    (cd "$work/javascript" && npm pack --silent --offline --pack-destination "$out" --cache "$work/cache" >/dev/null)
}

# The times in an archive are those of no build, and its files are in the order of their names.
archive() {
    (cd "$2" && find . -type f -printf '%P\n' | sort >"$work/names" && xargs -a "$work/names" jar --create --file "$out/$1" \
        --date 2025-01-01T00:00:00Z "${@:3}")
}

java() {
    copy java
    local name=pushcrypt-$version group source=$work/java/src/main/java
    group=$(sed -nE 's|.*<groupId>(.*)</groupId>.*|\1|p' "$work/java/pom.xml" | head -n 1)
    find "$source" -name '*.java' | sort >"$work/sources"
    javac --release 17 -g -parameters -Xlint:all -Werror -d "$work/classes" "@$work/sources"
    javadoc -quiet -notimestamp -Xdoclint:all -Werror --release 17 -d "$work/javadoc" --module-source-path "com.example.pushcrypt=$source" \
        --module com.example.pushcrypt >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
    for folder in "$work/classes" "$source" "$work/javadoc"; do install -D -m 644 LICENSE "$folder/META-INF/LICENSE"; done
    install -D -m 644 "$work/java/pom.xml" "$work/classes/META-INF/maven/$group/pushcrypt/pom.xml"
    install -m 644 "$work/java/pom.xml" "$out/$name.pom"
    printf 'Implementation-Title: pushcrypt\nImplementation-Version: %s\n' "$version" >"$work/manifest"
    archive "$name.jar" "$work/classes" --manifest "$work/manifest" --module-version "$version"
    archive "$name-sources.jar" "$source" --no-manifest
    archive "$name-javadoc.jar" "$work/javadoc" --no-manifest
}

go() { python3 -B Sources/Packaging/go-proxy.py "$out" "$version"; }

"$1"
