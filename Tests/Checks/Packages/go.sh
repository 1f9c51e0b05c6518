#!/usr/bin/env bash
# The Go module, called by run.sh.
# Usage: go.sh install   writes the module as others download it, and builds the driver with it, without a network
#        go.sh check     its version, `go vet`, documentation and README, and what Packages/go tests
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

# Builds a main package with the downloaded module: its sources, then the name of the program.
build() {
    local folder=$root/build-$2
    rm -rf "$folder" && cp -R "$1" "$folder"
    (cd "$folder" && env "${offline[@]}" go get "example.com/pushcrypt@v$version" && env "${offline[@]}" go vet ./... &&
        env "${offline[@]}" go build -o "$root/$2" .) >"$root/log" 2>&1 || { tail -n 30 "$root/log" >&2; fail "$1 does not build: $root/log"; }
}

install() {
    [ ! -d "$root/modules" ] || chmod -R u+w "$root/modules"
    rm -rf "$root/proxy" "$root/modules" && mkdir -p "$root"
    Sources/Packaging/languages.sh go "$root/proxy"
    python3 -B Sources/Packaging/go-proxy.py "$root/proxy" --needed
    build Tests/Checks/Interop/go driver
}

check() {
    [ -z "$(gofmt -l Sources/Languages/go Tests/Checks/Interop/go Tests/Checks/Packages/go)" ] || fail 'run gofmt -w'
    # In its own folder: vet, and the examples of its documentation.
    rm -rf "$root/source" && cp -RL Sources/Languages/go "$root/source"
    (cd "$root/source" && env "${offline[@]}" go vet ./... && env "${offline[@]}" go test ./...) >"$root/log" 2>&1 ||
        { tail -n 30 "$root/log" >&2; fail 'go vet or go test'; }
    .build/interop/bin/python -B Tests/Checks/Packages/go/documented.py Sources/Languages/go
    Tests/Checks/Packages/codes.sh <(grep 'Code *= "' Sources/Languages/go/errors.go)
    Tests/Checks/Packages/readme.sh Sources/Languages/go/README.md "$root/readme" PATH="$PWD/.build/release:$PATH" "${offline[@]}"
    build Tests/Checks/Packages/go/filter filter-test
    "$root/filter-test" "$PWD/.build/release/pushcrypt"
    echo "packages: go: version $version, README and documentation"
}

"$1"
