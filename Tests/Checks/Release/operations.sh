#!/usr/bin/env bash
# Tests what operators use: metrics as Prometheus reads them, the units, the Kubernetes manifest, and the image. Called by `make nightly PART=operations`,
# which builds the programs and their Debian packages. The image needs root, debootstrap and the network for Debian's packages.
# Usage: operations.sh [metrics|units|manifest|image]...
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD
pushcrypt=$root/.build/release/pushcrypt
recipes=Sources/Pipelines
kept=.build/image
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

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

# Debian without recommended packages, and what the image needs besides, kept between runs.
base() {
    [ -e "$kept/base/etc/debian_version" ] || {
        rm -rf "$kept" && mkdir -p "$kept"
        debootstrap --variant=minbase bookworm "$kept/new" http://deb.debian.org/debian >"$kept/log" 2>&1 || fail "debootstrap fails: $kept/log"
        mv "$kept/new" "$kept/base"
    }
    rm -rf "$work/context" && mkdir -p "$work/context/packages/partial"
    cp "$recipes"/{Containerfile,queue_worker.py} "$work/context/"
    for package in pushcrypt pushcrypt-send; do
        deb=$(ls -t .build/packages/"$package"_*.deb 2>/dev/null | head -n 1) || true
        [ -n "$deb" ] || fail "there is no package $package yet: make packages"
        cp "$deb" "$work/context/packages/"
    done
    # As the Containerfile says.
    mkdir -p "$kept/base/p"
    unshare --mount bash -euc 'mount --bind "$2" "$1/p"; cp /etc/resolv.conf "$1/etc/"; chroot "$1" bash -euc "
        apt-get -qq update
        apt-get -qq install -y --no-install-recommends --download-only -o Dir::Cache::archives=/p /p/pushcrypt*.deb python3-confluent-kafka ca-certificates"' \
        - "$kept/base" "$work/context/packages" >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; fail 'the packages of the image'; }
    rm -rf "$work/context/packages/"{partial,lock}
}

image() {
    if [ "$(id -u)" -ne 0 ]; then
        echo 'SKIPPED: operations: the image, which is built as root'
        return
    fi
    base
    printf '{"default":[{"type":"insecureAcceptAnything"}]}\n' >"$work/policy.json"
    tool=(buildah --root "$work/storage" --runroot "$work/run" --storage-driver vfs)
    if "${tool[@]}" from --name base scratch >"$work/log" 2>&1 && "${tool[@]}" add -q base "$kept/base" / >>"$work/log" 2>&1 &&
        "${tool[@]}" commit -q --disable-compression base localhost/base >>"$work/log" 2>&1; then
        # Without a network.
        unshare --net "${tool[@]}" bud -q --isolation chroot --pull-never --signature-policy "$work/policy.json" \
            --build-arg BASE=localhost/base -t image "$work/context" >>"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; fail 'the image does not build'; }
        "${tool[@]}" from --pull-never --signature-policy "$work/policy.json" --name run localhost/image >>"$work/log" 2>&1
        [ "$("${tool[@]}" inspect --format '{{.OCIv1.Config.User}}' run)" = 4000:4000 ] || fail 'the image has another user'
        mounted=$("${tool[@]}" mount run)
    else
        echo "SKIPPED: operations: buildah, which says: $(tail -n 1 "$work/log"). The steps of the Containerfile are taken by hand"
        mounted=$work/by-hand
        cp -a "$kept/base" "$mounted"
        cp -r "$work/context/packages" "$mounted/packages"
        install -D -t "$mounted/opt/sealer" "$recipes/queue_worker.py"
        unshare --net chroot "$mounted" sh -eu <<<"$(sed -n 's/^RUN //p' "$recipes/Containerfile")" >"$work/log" 2>&1 ||
            { tail -n 20 "$work/log" >&2; fail 'the image does not build'; }
    fi
    in_image "$mounted"
}

# Runs in the image as Kubernetes would: without rights, on a read-only root.
in_image() {
    mkdir -p "$1/run/alive" "$1/run/secrets/push"
    "$pushcrypt" key new provider -o "$work/image.key" >"$work/image.pub"
    install -m 440 -g 5000 "$work/image.key" "$1/run/secrets/push/provider.key"
    "$pushcrypt" key new device -o "$work/phone" >"$work/phone.pub"
    # Programs in Swift get their arguments from /proc, as they do in a container.
    unshare --mount --net --pid --fork bash -euc '
        mount --bind "$1" "$1"
        mount -t proc proc "$1/proc"
        mount -t tmpfs -o mode=777 tmpfs "$1/run/alive"
        mount -o remount,bind,ro "$1"
        exec chroot "$1" setpriv --reuid 4000 --regid 4000 --groups 5000 --no-new-privs --bounding-set=-all --inh-caps=-all \
            env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -eu' - "$1" <<END || fail 'the image does not run as a user without rights'
! touch /x 2>/dev/null
[ "\$(id -u)" = 4000 ]
echo '{"to":"$(cat "$work/phone.pub")","payload":{"aps":{"alert":"Hello"}}}' |
    pushcrypt seal --batch --emit=request --topic=com.example.app --signing-key-file=/run/secrets/push/provider.key | grep -q ENCRYPTED_DATA
pushcrypt send --dry-run </dev/null
# The worker, against a broker that librdkafka simulates; then the probes of the manifest.
echo '{"consumer":{"group.id":"g","test.mock.num.brokers":1},"producer":{"test.mock.num.brokers":1}}' >/run/alive/kafka.json
probe() { $(.build/dist/bin/python -B Tests/Checks/Release/manifest.py --probe "$recipes/kubernetes.yaml") 2>/dev/null; }
! probe
python3 /opt/sealer/queue_worker.py kafka --config=/run/alive/kafka.json --from=pushes --to=sealed --refused=refused --alive=/run/alive/worker \
    -- pushcrypt seal --batch --emit=request --topic=com.example.app --signing-key-file=/run/secrets/push/provider.key 2>/run/alive/log &
worker=\$!
for i in \$(seq 100); do probe && break; sleep 0.2; done
probe || { cat /run/alive/log; false; }
touch -d '11 minutes ago' /run/alive/old
kill -STOP \$worker
touch -r /run/alive/old /run/alive/worker
! probe
kill -CONT \$worker
for i in \$(seq 100); do probe && break; sleep 0.2; done
probe
kill \$worker
wait \$worker
END
    echo 'operations: the image builds without a network, and seals and is probed as a user without rights, on a read-only root'
}

[ $# -gt 0 ] || set -- metrics units manifest image
for part; do "$part"; done
