#!/usr/bin/env bash
# The Python package, called by run.sh.
# Usage: python.sh install   builds the source distribution and, from it, the wheel, and installs that into a clean environment
#        python.sh check     its version, types and README, and what Packages/python tests
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD/.build/languages/python
tools=$PWD/.build/interop/bin
wheels=$PWD/.build/wheels
environment=$root/environment

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

# The README's other example, with a store.
run_filter() (
    cd "$root/readme"
    PATH=$OLDPWD/.build/release:$PATH
    pushcrypt --store P init >/dev/null 2>hint
    pushcrypt --store P key new provider --topic com.example.app >/dev/null
    pushcrypt --store P device add phone1 - <phone.pub >/dev/null
    [[ $(venv/bin/python many.py) =~ ^0a1b\ [A-Za-z0-9_-]{32}$ ]] || fail 'the filter of the README'
)

check() {
    local version
    version=$(Sources/Packaging/version.sh python)
    for file in "pushcrypt-$version.tar.gz" "pushcrypt-$version-py3-none-any.whl"; do
        [ -f "$root/dist/$file" ] || fail "its version is not $version: $(ls "$root/dist")"
    done
    "$tools/python" -m zipfile -l "$root/dist/pushcrypt-$version-py3-none-any.whl" >"$root/files"
    for file in pushcrypt/py.typed licenses/LICENSE; do grep -q "$file" "$root/files" || fail "it has no $file"; done

    Tests/Checks/Packages/codes.sh Sources/Languages/python/src/pushcrypt/_errors.py

    # As its user would: `pip install pushcrypt` without a network finds the artefact.
    Tests/Checks/Packages/readme.sh Sources/Languages/python/README.md "$root/readme" PATH="$PWD/.build/release:$PATH" \
        PIP_NO_INDEX=1 PIP_FIND_LINKS="$wheels $root/dist" PIP_DISABLE_PIP_VERSION_CHECK=1
    run_filter
    "$tools/mypy" --strict --python-executable "$environment/bin/python" --cache-dir "$root/mypy" --package pushcrypt >"$root/types" ||
        { cat "$root/types" >&2; fail 'types'; }
    "$tools/mypy" --strict --python-executable "$environment/bin/python" --cache-dir "$root/mypy" "$root"/readme/*.py \
        Tests/Checks/Packages/python/*.py >"$root/types" || { cat "$root/types" >&2; fail 'types of a user'; }
    for test in Tests/Checks/Packages/python/*_test.py; do
        "$environment/bin/python" -B -W error "$test" "$PWD/.build/release/pushcrypt"
    done
    echo "packages: python: version $version, README and types"
}

"$1"
