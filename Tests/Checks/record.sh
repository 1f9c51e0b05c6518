#!/usr/bin/env bash
# Writes again what is recorded from the sources, which `make test` and `make check` compare.
# Usage: record.sh [api|languages|vectors]...     all of them without arguments
set -euo pipefail
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- languages vectors api
for what; do
    case $what in
    api)
        make --no-print-directory tests
        Tests/Checks/API/documentation.py check .build/debug/Modules
        Tests/Checks/API/api.py record .build/documentation/symbols
        ;;
    languages) Sources/Languages/generate.py ;;
    vectors)
        Tests/Checks/setup.sh interop
        .build/interop/bin/python -B Tests/Data/Vectors/generate.py
        ;;
    *)
        echo "record: error: nothing is called $what: api, languages, vectors" >&2
        exit 64
        ;;
    esac
done
