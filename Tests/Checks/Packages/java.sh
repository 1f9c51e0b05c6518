#!/usr/bin/env bash
# The Java package, called by run.sh: a jar with a module, its sources and its Javadoc.
# Usage: java.sh install   builds the jars with their documentation, and compiles the driver against the jar alone
#        java.sh check     its module, README on class and module path, and the client of the filter
set -euo pipefail
cd "$(dirname "$0")/../../.."
source=Sources/Languages/java root=.build/languages/java tests=Tests/Checks/Packages/java pushcrypt=$PWD/.build/release/pushcrypt
version=$(Sources/Packaging/version.sh)
jar=pushcrypt-$version.jar

fail() {
    echo "packages: error: java: $1" >&2
    exit 1
}

install() {
    rm -rf "$root"
    Sources/Packaging/languages.sh java "$root"
    mkdir "$root/driver"
    javac -Xlint:all -Werror -cp "$root/$jar" -d "$root/driver" Tests/Checks/Interop/java/*.java Tests/Checks/Interop/java/pushcrypt/*.java
    ln -s "$jar" "$root/pushcrypt.jar"
}

# The README's other example, and its first one as a module of its own.
run_readme() (
    cd "$root/readme"
    mkdir module
    cp Seal.java module
    sed -i '1i package example;' module/Seal.java
    echo 'module example { requires pushcrypt; }' >module/module-info.java
    javac -Xlint:all -Werror -p "../$jar" -d modules module/*.java
    rm push.json
    java -p "../$jar:modules" -m example/example.Seal
    [ -s push.json ]
    PATH=$(dirname "$pushcrypt"):$PATH
    pushcrypt --store P init >/dev/null 2>hint
    pushcrypt --store P key new provider --topic com.example.app >/dev/null
    pushcrypt --store P device add phone1 - <phone.pub >/dev/null
    [[ $(java -cp "../$jar" Many.java) =~ ^0a1b\ [A-Za-z0-9_-]{32}$ ]] || fail 'the filter of the README'
)

check() {
    grep -qx "pushcrypt@$version .*" <(cd "$root" && jar --describe-module --file "$jar") || fail 'the jar has no module of this version'
    Tests/Checks/Packages/codes.sh "$source/src/pushcrypt/PushcryptException.java"
    Tests/Checks/Packages/readme.sh "$source/README.md" "$root/readme" PATH="$(dirname "$pushcrypt"):$PATH" JAR="$PWD/$root/$jar"
    run_readme
    javac -Xlint:all -Werror -cp "$root/$jar" -d "$root/tests" "$tests"/*.java
    rm -rf "$root"/deaf*
    timeout 300 java -Xmx64m -cp "$root/$jar:$root/tests" FilterTest "$pushcrypt" "$root" "${FILTER_COUNT:-3000}"
}

"$1"
