#!/usr/bin/env bash
# The JavaScript package, called by run.sh.
# Usage: javascript.sh install   packs the npm tarball, and installs that into a folder of its own without a network
#        javascript.sh check     its own tests, version, types and README, and that it installs from its folder
set -euo pipefail
cd "$(dirname "$0")/../../.."
package=Sources/Languages/javascript root=$PWD/.build/languages/javascript tests=Tests/Checks/Packages/javascript pushcrypt=$PWD/.build/release/pushcrypt
npm=(npm_config_offline=true npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false npm_config_cache="$root/cache")

fail() {
    echo "packages: error: javascript: $1" >&2
    exit 1
}

install() {
    rm -rf "$root"
    mkdir -p "$root"
    Sources/Packaging/languages.sh javascript "$root"
    printf '{"name":"root","private":true}\n' >"$root/package.json"
    (cd "$root" && env "${npm[@]}" npm install --silent ./pushcrypt-*.tgz)
    cp Tests/Checks/Interop/javascript/*.mjs "$root"
}

# The README as it stands, with the package's folder of a checkout; then its other example.
run_readme() (
    Tests/Checks/Packages/readme.sh "$package/README.md" "$root/readme" PATH="$PATH" CHECKOUT="$PWD" "${npm[@]}"
    cd "$root/readme"
    node --input-type=module -e '
        import { ProviderKey, Sealer } from "pushcrypt";
        import { DeviceKey } from "pushcrypt/testing";
        import { register } from "./register.mjs";
        const devices = new Map(), sealer = new Sealer({ key: ProviderKey.generate(), topic: "com.example.app" });
        const json = JSON.stringify({ device: "d", public_key: DeviceKey.generate().publicKey });
        for (const user of ["alice", "bob"]) console.log(JSON.stringify(await register(json, user, devices, sealer)));
    ' >replies
    grep -q '^{"version":1,"acknowledged":"pcr1' replies && grep -qx '{"version":1,"refused":"user-mismatch"}' replies || fail 'the registration of the README'
)

# As programs use them: ES modules, CommonJS, and the older resolution of modules.
types() (
    cp "$tests"/types.{mts,cts} "$root"
    cp "$tests/types.mts" "$root/older.ts"
    cd "$root"
    strict=(tsc --noEmit --strict --exactOptionalPropertyTypes --target es2022 --lib es2022)
    "${strict[@]}" --module node16 --moduleResolution node16 types.mts types.cts && "${strict[@]}" --module commonjs --moduleResolution node older.ts || fail types
)

check() {
    local version tested
    version=$(Sources/Packaging/version.sh)
    [ -f "$root/pushcrypt-$version.tgz" ] || fail "its version is not $version"
    tar -tzf "$root/pushcrypt-$version.tgz" >"$root/files"
    for file in LICENSE README.md CHANGELOG.md index.d.ts testing.d.ts answers.d.ts home.js home.d.ts relay.js relay.d.ts lib/codes.d.ts; do
        grep -qx "package/$file" "$root/files" || fail "it has no $file"
    done
    ! grep -q /test/ "$root/files" || fail 'it has its tests'

    # Its own tests, of what was installed, without the command in the path; then those of the command.
    cp -R "$package/test" "$root/test"
    tested=$(cd "$root" && env -u PUSHCRYPT PATH=/usr/bin:/bin PUSHCRYPT_VECTORS="$OLDPWD/Tests/Data/Vectors" node --test --test-concurrency=1 test/*.test.mjs 2>&1) ||
        { grep -A 20 '^not ok' <<<"$tested" >&2; fail 'its tests'; }
    (cd "$root" && PUSHCRYPT=$pushcrypt node --test --test-concurrency=1 test/keys.test.mjs >command.log) || { cat "$root/command.log" >&2; fail 'its tests of the command'; }
    run_readme
    types
    echo "packages: javascript: version $version, $(grep -E '^# (pass|skipped)' <<<"$tested" | tr '\n' ' ')"
}

case $1 in
install) install ;;
check) check ;;
*) echo "packages: error: no such step: $1" >&2 && exit 64 ;;
esac
