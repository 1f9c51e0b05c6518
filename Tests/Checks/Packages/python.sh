#!/usr/bin/env bash
# The Python package, called by run.sh.
# Usage: python.sh install   builds the source distribution and, from it, the wheel, and installs that into a clean environment
#        python.sh check     its own tests, version, types and README, and that it installs from a folder and a Git address
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD/.build/languages/python
tools=$PWD/.build/interop/bin
wheels=$PWD/.build/wheels
environment=$root/environment
package=Sources/Languages/python

fail() {
    echo "packages: error: python: $1" >&2
    exit 1
}

install() {
    rm -rf "$root" && mkdir -p "$root"
    Sources/Packaging/languages.sh python "$root/dist"
    {
        python3 -m venv "$environment"
        "$environment/bin/pip" install --disable-pip-version-check --no-index --find-links "$wheels" "$root"/dist/*.whl
    } >"$root/log" 2>&1 || { tail -n 30 "$root/log" >&2; fail "it cannot be installed: $root/log"; }
}

# As its user would, but without a network: the folder, and the repository's address with a folder in it.
install_from_sources() {
    local copy=$root/sources place
    rm -rf "$copy" && mkdir -p "$copy/Sources/Languages" && cp -R "$package" "$copy/Sources/Languages/"
    git -C "$copy" init -q && git -C "$copy" add -A
    git -C "$copy" -c user.name=a -c user.email=a@example.com commit -qm a
    for place in "$copy/$package" "git+file://$copy#subdirectory=$package"; do
        rm -rf "$root/other" && python3 -m venv "$root/other"
        "$root/other/bin/pip" install --disable-pip-version-check --no-index --find-links "$wheels" "$place" >"$root/log" 2>&1 ||
            { tail -n 30 "$root/log" >&2; fail "it does not install from $place"; }
        "$root/other/bin/python" -I -c 'import pushcrypt.home, pushcrypt.relay, pushcrypt.testing' || fail "it does not import from $place"
    done
}

types() {
    local strict=("$tools/mypy" --strict --python-executable "$environment/bin/python" --cache-dir "$root/mypy") complete
    "${strict[@]}" --package pushcrypt >"$root/types" && "${strict[@]}" "$root"/readme/*.py Tests/Checks/Packages/python/typed.py >"$root/types" ||
        { cat "$root/types" >&2; fail 'types'; }
    # It looks for the package where the first Python of the path has it.
    (cd "$root" && PATH=$environment/bin:$PATH "$tools/python" -m basedpyright --verifytypes pushcrypt --ignoreexternal --outputjson) \
        >"$root/types" || true
    complete=$("$tools/python" -c 'import json, sys; print(json.load(sys.stdin)["typeCompleteness"]["completenessScore"])' <"$root/types")
    [ "$complete" = 1 ] || fail "types of its public surface: $complete"
}

check() {
    local version tested
    version=$(Sources/Packaging/version.sh python)
    for file in "pushcrypt-$version.tar.gz" "pushcrypt-$version-py3-none-any.whl"; do
        [ -f "$root/dist/$file" ] || fail "its version is not $version: $(ls "$root/dist")"
    done
    "$tools/python" -m zipfile -l "$root/dist/pushcrypt-$version-py3-none-any.whl" >"$root/files"
    for file in pushcrypt/py.typed licenses/LICENSE; do grep -q "$file" "$root/files" || fail "it has no $file"; done

    # Its own tests, of what was installed. Without the command in the path, then those of the command.
    "$environment/bin/pip" install --disable-pip-version-check --no-index --find-links "$wheels" pytest >"$root/log"
    tested=$(PATH=/usr/bin:/bin "$environment/bin/python" -B -m pytest -q -p no:cacheprovider -m 'not command' "$package") ||
        { echo "$tested" >&2; fail 'its tests'; }
    PUSHCRYPT=$PWD/.build/release/pushcrypt "$environment/bin/python" -B -m pytest -q -p no:cacheprovider "$package/tests/test_command.py" \
        >"$root/log" || { cat "$root/log" >&2; fail 'its tests of the command'; }

    # As its user would: `pip install pushcrypt` without a network finds the artefact.
    Tests/Checks/Packages/readme.sh "$package/README.md" "$root/readme" PATH="$PATH" CHECKOUT="$PWD" \
        PIP_NO_INDEX=1 PIP_FIND_LINKS="$wheels $root/dist" PIP_DISABLE_PIP_VERSION_CHECK=1
    types
    install_from_sources
    echo "packages: python: version $version, $(tail -n 1 <<<"$tested")"
}

"$1"
