#!/usr/bin/env bash
# The package in JavaScript, Sources/Languages/javascript: an npm tarball, installed into a folder of its own without a network.
# run.sh has the arguments.
set -euo pipefail
cd "$(dirname "$0")/../../.."
source=Sources/Languages/javascript root=.build/languages/javascript tests=Tests/Checks/Packages/javascript pushcrypt=$PWD/.build/release/pushcrypt

install() {
    rm -rf "$root"
    mkdir -p "$root"
    Sources/Packaging/languages.sh javascript "$root"
    printf '{"name":"root","private":true}\n' >"$root/package.json"
    (cd "$root" && npm install --silent --offline --no-audit --no-fund --no-update-notifier --cache ./cache ./pushcrypt-*.tgz)
    rm -rf "$root/cache"
    cp Tests/Checks/Interop/javascript/*.mjs "$root"
}

# The README as it stands: the first push, from a registry of this one package; then its other examples.
run_readme() {
    local folder=$root/readme registry
    exec {registry}< <(exec node "$tests/registry.mjs" "$root"/pushcrypt-*.tgz)
    read -r port <&"$registry"
    Tests/Checks/Packages/readme.sh "$source/README.md" "$folder" PATH="$(dirname "$pushcrypt"):$PATH" \
        npm_config_registry="http://127.0.0.1:$port" npm_config_update_notifier=false npm_config_audit=false npm_config_fund=false
    kill "${!}"
    (
        cd "$folder"
        PATH=$(dirname "$pushcrypt"):$PATH
        pushcrypt --store P init >/dev/null 2>hint
        pushcrypt --store P key new provider --topic com.example.app >/dev/null
        pushcrypt --store P device add phone1 - <phone.pub >/dev/null
        [[ $(node many.mjs) =~ ^0a1b\ [A-Za-z0-9_-]{32}$ ]] || { echo 'packages: error: the filter of the README' >&2 && exit 1; }
        pushcrypt --store phone init >/dev/null 2>hint
        pushcrypt --store phone key new device --topic com.example.app >/dev/null
        pushcrypt --store phone key show --json >record.json
        node --input-type=module -e '
            import { readFileSync } from "node:fs";
            import { register } from "./register.mjs";
            const devices = new Map(), provider = readFileSync("provider.pub", "utf8").trim();
            for (const user of ["alice", "bob"]) console.log(register(readFileSync("record.json"), { device: "d", user }, devices, provider));
        ' >replies
        grep -q '^{"version":1,"acknowledged":"pcr1' replies && grep -qx '{"version":1,"refused":"user-mismatch"}' replies
    )
}

check() {
    cp "$tests"/{types.mts,types.cts,filter.mjs} "$root"
    (cd "$root" && tsc --noEmit --strict --target es2022 --lib es2022 --module node16 --moduleResolution node16 types.mts types.cts)
    Tests/Checks/Packages/codes.sh "$root/node_modules/pushcrypt/lib/errors.js"
    run_readme
    rm -rf "$root"/deaf*
    timeout 300 node "$root/filter.mjs" "$pushcrypt" "$root" "${FILTER_COUNT:-3000}"
}

case $1 in
install) install ;;
check) check ;;
*) echo "packages: error: no such step: $1" >&2 && exit 64 ;;
esac
