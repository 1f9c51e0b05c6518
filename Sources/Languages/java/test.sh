#!/bin/sh
# Compiles the package and runs its tests, with the JDK and the JUnit 5 of Debian (`apt-get install junit5`), and without a network.
# `mvn test` does the same with Maven. Both find the vectors in the checkout, or in PUSHCRYPT_VECTORS.
# Usage: [JAVA_TOOL_OPTIONS=-Xmx64m] test.sh [CLASS…]        such as pushcrypt.FilterTest
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
junit=$(find "${JUNIT:-/usr/share/java}" -name 'junit-*.jar' -o -name 'opentest4j*.jar' -o -name 'apiguardian*.jar' -o -name 'picocli.jar' -o -name 'univocity*.jar' | tr '\n' ':')
find src/main/java -name '*.java' >"$work/main"
find src/test/java -name '*.java' >"$work/test"
javac --release 17 -g -parameters -Xlint:all -Werror -d "$work/classes" "@$work/main"
javac --release 17 -g -Xlint:all,-path,-classfile -Werror -cp "$work/classes:$junit" -d "$work/tests" "@$work/test"
[ $# -gt 0 ] && for class; do set -- "$@" "--select-class=$class"; shift; done || set -- "--scan-classpath=$work/tests"
java -XX:+UseSerialGC -cp "$work/classes:$work/tests:$junit" org.junit.platform.console.ConsoleLauncher \
    --disable-banner --details="${DETAILS:-summary}" --fail-if-no-tests "$@"
