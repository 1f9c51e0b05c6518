#!/usr/bin/env bash
# The version of the project, which Sources/PushcryptCommand/Commands.swift has; other files repeat it in their own form.
# Usage: version.sh               prints it, such as 1.0.0-beta.1
#        version.sh python        as Python writes it: 1.0.0b1
#        version.sh debian        as Debian writes it: 1.0.0~beta.1
#        version.sh check         fails if a file has another one; part of `make lint`
#        version.sh set VERSION   writes it everywhere; then write the changelog
set -euo pipefail
cd "$(dirname "$0")/../.."
source=Sources/PushcryptCommand/Support/ProgramVersion.swift

fail() {
    echo "version: error: $1" >&2
    exit 1
}

python() { sed -E 's/-alpha\./a/; s/-beta\./b/; s/-rc\./rc/' <<<"$1"; }

# Each file with the text around the version, for one of them.
places() {
    cat <<END
$source|programVersion = "$1"
Docs/Changelog.md|## $1
Sources/PushcryptC/include/pushcrypt.h|#define PUSHCRYPT_VERSION "$1"
Sources/Languages/go/doc.go|const Version = "$1"
Sources/Languages/java/pom.xml|<version>$1</version>  <!-- version.sh -->
Sources/Languages/javascript/package.json|"version": "$1"
Sources/Languages/python/src/pushcrypt/__init__.py|__version__ = "$(python "$1")"
Tests/Checks/Interop/go/go.mod|example.com/pushcrypt/Sources/Languages/go v$1
Tests/CommandTests/ProgramTests.swift|pushcrypt $1 (libsodium
END
}

check() {
    local file text
    while IFS='|' read -r file text; do
        # What follows decides between 1.0.0 and 1.0.0-beta.1.
        [ "$(grep -cE "$(sed 's/[.()]/\\&/g' <<<"$text")"'([^0-9a-z.-]|$)' "$file")" -eq 1 ] ||
            fail "$file does not have once: $text"
    done < <(places "$1")
}

version=$(sed -nE 's/.*programVersion = "(.*)"/\1/p' "$source")
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-(alpha|beta|rc)\.[0-9]+)?$ ]] || fail "$source has no version"
case ${1:-} in
'') echo "$version" ;;
python) python "$version" ;;
debian) echo "${version/-/\~}" ;;
check) check "$version" ;;
set)
    [[ ${2:-} =~ ^[0-9]+\.[0-9]+\.[0-9]+(-(alpha|beta|rc)\.[0-9]+)?$ ]] || fail "not a version: ${2:-}"
    check "$version"
    paste -d '|' <(places "$version") <(places "$2") | while IFS='|' read -r file old _ new; do
        OLD=$old NEW=$new perl -0pi -e 's/\Q$ENV{OLD}\E/$ENV{NEW}/' "$file"
    done
    ;;
*)
    sed -n '3,7s/^# //p' "$0" >&2
    exit 64
    ;;
esac
