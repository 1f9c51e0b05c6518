#!/usr/bin/env bash
# Tests what operators use: metrics as Prometheus reads them, the units, and the Kubernetes manifest. Called by
# `make nightly PART=operations`, which builds the programs.
# Usage: operations.sh [metrics|units|manifest]...
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD
pushcrypt=$root/.build/release/pushcrypt
recipes=Sources/Pipelines
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "operations: error: $1" >&2
    exit 1
}

metrics() {
    cd "$work"
    "$pushcrypt" key new provider -o provider.key >provider.pub
    "$pushcrypt" key new device -o phone.key >phone.pub
    for to in "$(cat phone.pub)" "$(cat phone.pub)" nobody; do
        echo "{\"to\":\"$to\",\"token\":\"$(printf '%064d' 1)\",\"payload\":{\"aps\":{\"alert\":\"Hello\"}}}"
    done >lines
    "$pushcrypt" seal --batch --emit request --topic com.example.app --signing-key-file provider.key --metrics seal.prom <lines >sealed || true
    /usr/bin/python3 "$root/Tests/Checks/Send/serve.py" apns -- bash -c '
        "$0" send --host "$APNS_HOST" --ca-file apns/authority.pem --key apns/AuthKey_*.p8 --team TEAM123456 --metrics send.prom <sealed >answers' \
        "$pushcrypt" >serve.log 2>&1 || true
    for file in seal send; do
        [ "$(grep -c '^pushcrypt_' "$file.prom")" -gt 5 ] || fail "there are no metrics of $file"
        said=$(promtool check metrics <"$file.prom" 2>&1) || fail "promtool refuses the metrics of $file: $said"
        [ -z "$said" ] || fail "promtool warns of the metrics of $file: $said"
        # What is watched, by the table of Docs/Monitoring.md, exists.
        echo "operations: promtool accepts $(grep -c '^pushcrypt_' "$file.prom") metrics of $file"
    done
    for name in $(grep -o 'pushcrypt_[a-z_]*' "$root/Docs/Monitoring.md" | sort -u); do
        grep -q "^# TYPE $name " seal.prom send.prom || fail "Docs/Monitoring.md has $name, which is in no file"
    done
    cd "$root"
    Tests/Checks/Release/monitoring.py "$work/send.prom"
}

# Every unit is well-formed, sandboxed, and limited in memory. The programs need not be installed here.
units() {
    local unit said
    for unit in "$recipes"/*.service Sources/Packaging/systemd/*.service; do
        said=$(SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no "$unit" 2>&1 | grep -v 'is not executable') || true
        [ -z "$said" ] || fail "systemd does not take $unit: $said"
        said=$(systemd-analyze security --offline=true --threshold=20 --no-pager "$unit" 2>&1) ||
            fail "$unit: $(tail -n 1 <<<"$said"), which may be 2.0 at most"
        grep -q '^MemoryMax=' "$unit" || fail "$unit has no MemoryMax="
        echo "operations: $(tail -n 1 <<<"$said" | grep -o 'exposure level.*: [0-9.]*')"
    done
}

manifest() {
    for version in 1.29.0 1.37.0; do
        .build/dist/bin/python -W ignore -m kubernetes_validate --quiet --strict -k "$version" "$recipes/kubernetes.yaml" ||
            fail "Kubernetes $version does not take the manifest"
    done
    .build/dist/bin/python -B Tests/Checks/Release/manifest.py "$recipes/kubernetes.yaml"
}

[ $# -gt 0 ] || set -- metrics units manifest
for part; do "$part"; done
