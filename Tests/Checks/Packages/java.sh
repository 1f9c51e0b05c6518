#!/usr/bin/env bash
# The Java package, called by run.sh: a jar with a module, its sources and its Javadoc.
# Usage: java.sh install   builds the jars with their documentation, and compiles the driver against the jar alone
#        java.sh check     its module, its own tests in a clean copy, and its README on class and module path
set -euo pipefail
cd "$(dirname "$0")/../../.."
source=Sources/Languages/java root=.build/languages/java pushcrypt=$PWD/.build/release/pushcrypt
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
    javac -Xlint:all -Werror -cp "$root/$jar" -d "$root/driver" Tests/Checks/Interop/java/*.java
    ln -s "$jar" "$root/pushcrypt.jar"
}

# In a copy, as a download would be. Without the command, then what needs it.
run_tests() (
    rm -rf "$root/copy" && cp -r "$source" "$root/copy"
    export PUSHCRYPT_VECTORS=$PWD/Tests/Data/Vectors
    cd "$root/copy"
    PUSHCRYPT='' ./test.sh >../tests 2>&1 || { cat ../tests >&2; fail 'its tests'; }
    PUSHCRYPT=$pushcrypt ./test.sh com.example.pushcrypt.RotationTest#withTheCommand >../command 2>&1 || { cat ../command >&2; fail 'its test of the command'; }
    echo "packages: java: $(grep -o '[0-9]* tests successful' ../tests)"
)

# The README's other examples, and its first one as a module of its own.
run_readme() (
    cd "$root/readme"
    mkdir module
    cp First.java module
    sed -i '1i package example;' module/First.java
    echo 'module example { requires com.example.pushcrypt; }' >module/module-info.java
    javac -Xlint:all -Werror -p "../$jar" -d modules module/*.java
    [[ $(java -p "../$jar:modules" -m example/example.First) = *'Table for two'* ]] || fail 'the example of the README, as a module'
    javac -Xlint:all -Werror -cp "../$jar" -d classes ./*.java
)

check() {
    grep -qx "com.example.pushcrypt@$version .*" <(cd "$root" && jar --describe-module --file "$jar") || fail 'the jar has no module of this version'
    grep -q LocalVariableTable <(javap -l -cp "$root/$jar" com.example.pushcrypt.Sealer) || fail 'the jar has no debug information'
    run_tests
    Tests/Checks/Packages/readme.sh "$source/README.md" "$root/readme" PATH="$PATH" CHECKOUT="$PWD"
    run_readme
}

"$1"
