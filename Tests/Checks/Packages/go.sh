#!/usr/bin/env bash
# The Go module, called by run.sh.
# Usage: go.sh install   writes the module as others download it, and builds the driver with it, without a network
#        go.sh check     its version, `go vet`, its tests, documentation and README
set -euo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD/.build/languages/go
version=$(Sources/Packaging/version.sh)
# The same version has other contents after a change here, which the index of modules does not expect.
offline=(GODEBUG=goindex=0 GOPROXY="file://$root/proxy" GOSUMDB=off GOFLAGS=-mod=mod GOTOOLCHAIN=local GOMODCACHE="$root/modules" GOCACHE="$root/cache")

fail() {
    echo "packages: error: go: $1" >&2
    exit 1
}

install() {
    [ ! -d "$root/modules" ] || chmod -R u+w "$root/modules"
    rm -rf "$root/proxy" "$root/modules" "$root/build-driver" && mkdir -p "$root"
    Sources/Packaging/languages.sh go "$root/proxy"
    python3 -B Sources/Packaging/go-proxy.py "$root/proxy" --needed
    # As README.md says: the sums of go.sum are those of the public modules, and the folder has Debian's.
    cp Sources/Languages/go/go.mod "$root/proxy/go.mod"
    cp -R Tests/Checks/Interop/go "$root/build-driver"
    (cd "$root/build-driver" && env "${offline[@]}" go get "example.com/pushcrypt/Sources/Languages/go@v$version" && env "${offline[@]}" go vet ./... &&
        env "${offline[@]}" go build -o "$root/driver" .) >"$root/log" 2>&1 || { tail -n 30 "$root/log" >&2; fail "the driver does not build: $root/log"; }
}

check() {
    [ -z "$(gofmt -l Sources/Languages/go Tests/Checks/Interop/go)" ] || fail 'run gofmt -w'
    (cd Sources/Languages/go && export GOFLAGS="-mod=mod -modfile=$root/proxy/go.mod" PUSHCRYPT="$PWD/../../../.build/release/pushcrypt" &&
        env "${offline[@]/GOFLAGS=*/GOFLAGS=$GOFLAGS}" sh -c 'go vet ./... && go test -parallel 16 ./...') >"$root/log" 2>&1 ||
        { tail -n 30 "$root/log" >&2; fail 'go vet or go test'; }
    ! grep -q 'THE TEST KIT IS NOT HERE' "$root/log" || fail 'the kit was not found'
    .build/interop/bin/python -B Tests/Checks/Packages/go/documented.py Sources/Languages/go
    Tests/Checks/Packages/readme.sh Sources/Languages/go/README.md "$root/readme" CHECKOUT="$PWD" PATH="$PATH" "${offline[@]}"
    echo "packages: go: version $version, tests, README and documentation"
}

"$1"
