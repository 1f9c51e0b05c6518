#!/usr/bin/env bash
# Checks what `make packages` wrote, which ends with this.
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "dist: error: $1" >&2
    exit 1
}

(cd dist && sha256sum --quiet --strict -c SHA256SUMS) || fail 'SHA256SUMS'
[ "$(find dist -mindepth 1 ! -name SHA256SUMS -printf '%f\n' | LC_ALL=C sort)" = "$(cut -c 67- dist/SHA256SUMS | LC_ALL=C sort)" ] ||
    fail 'SHA256SUMS has other files'
[ -z "$(find dist -mindepth 1 ! -perm 644)" ] || fail 'not everyone may read it'
.build/dist/bin/python -B Tests/Checks/Release/statements.py dist "$(git rev-parse HEAD)" "$(Sources/Packaging/version.sh)"

# The kit is that of the repository.
mkdir "$work/kit"
tar -xzf dist/pushcrypt-test-kit-*.tar.gz -C "$work/kit" --strip-components 1
rm "$work/kit/LICENSE"
[ "$(cd "$work/kit" && find . -type f | LC_ALL=C sort)" = "$(cd Tests/Data/Vectors && git ls-files | sed 's|^|./|' | LC_ALL=C sort)" ] ||
    fail 'the kit has other files'

# A wheel, its dependencies, and no network; then the first push of the README.
Tests/Checks/block.sh 'example: first.py' Sources/Languages/python/README.md >"$work/first.py"
ln -s "$root/.build" "$root/dist" "$work"
cd "$work"
{
    python3 -m venv v && v/bin/pip install --no-index --find-links .build/wheels dist/pushcrypt-*.whl
} >log 2>&1 || { cat log >&2; fail 'the wheel cannot be installed'; }
tar -xzf dist/pushcrypt-*-linux-"$(uname -m)".tar.gz --strip-components 1
(umask 077 && v/bin/python first.py >payload)
bin/pushcrypt open --banner --topic com.example.app --device-key-file phone.key --provider "$(cat provider.pub)" push.json >shown
grep -q '│ Table for two ' shown || fail 'the push of the wheel does not open'
echo "dist: $(wc -l <dist/SHA256SUMS) files: sums, bill of materials, provenance; the wheel seals a push that opens"
