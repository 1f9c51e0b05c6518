#!/bin/sh
# Compiles the package and runs its tests, with the JDK and Debian's JUnit 5 (`apt-get install junit5`), and without a network.
# `mvn test` does the same with Maven. Both find the vectors in the checkout, or in PUSHCRYPT_VECTORS, and the command in the path, or as PUSHCRYPT.
# Usage: test.sh [CLASS | CLASS#METHOD]…        such as com.example.pushcrypt.RotationTest, or com.example.pushcrypt.testing.KitTest#keys
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
junit=$(find "${JUNIT:-/usr/share/java}" -name 'junit-*.jar' -o -name 'opentest4j*.jar' -o -name 'apiguardian*.jar' -o -name 'picocli.jar' -o -name 'univocity*.jar' | tr '\n' ':')
find src/main/java -name '*.java' >"$work/main"
find src/test/java -name '*.java' >"$work/test"
javac --release 17 -g -parameters -Xlint:all -Werror -d "$work/classes" "@$work/main"
# Debian's jars name others that are not there.
javac --release 17 -g -Xlint:all,-path,-classfile -Werror -cp "$work/classes:$junit" -d "$work/tests" "@$work/test"
[ $# -gt 0 ] || set -- "--scan-classpath=$work/tests"
for test; do
    shift
    case $test in
    --*) ;;
    *\#*) test=--select-method=$test ;;
    *) test=--select-class=$test ;;
    esac
    set -- "$@" "$test"
done
java -Xmx1g -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$work/classes:$work/tests:$junit" org.junit.platform.console.ConsoleLauncher \
    --disable-banner --disable-ansi-colors --details=summary --fail-if-no-tests "$@"
