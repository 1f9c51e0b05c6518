#!/usr/bin/env bash
# Sends 100,000 messages through each of the workers in Sources/Pipelines, and the Spark job of its page, and 10,000 events through the
# provider in PostgreSQL with 1,000,000 devices (COUNT), kills them on the way, and counts what the phones show. Called by `make nightly
# PART="pipelines postgres"`, which builds the command and installs the rest.
# Usage: run.sh [kafka|redis|spark|postgres]...
set -euo pipefail
cd "$(dirname "$0")/../../.."
pushcrypt=$PWD/.build/release/pushcrypt
export PYTHONDONTWRITEBYTECODE=1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'kill $! 2>/dev/null; wait; exit 130' INT TERM

[ $# -gt 0 ] || set -- kafka redis spark postgres
for name; do
    case $name in
    kafka | redis) recipe=queue_worker.py ;;
    spark) recipe=postgres/README.md ;;
    postgres)
        recipe=postgres/provider.py
        export PYTHONPATH=$PWD/Sources/Languages/python/src
        # PostgreSQL runs as another user if this is root.
        chmod 755 "$work"
        ;;
    *) echo "run.sh: error: there is no pipeline called $name" >&2 && exit 64 ;;
    esac
    mkdir "$work/$name"
    # In the background, so that this script reacts to a signal immediately.
    .build/scale/bin/python "Tests/Checks/Pipelines/${name}_test.py" "$work/$name" "$pushcrypt" "$PWD/Sources/Pipelines/$recipe" &
    wait $! || {
        for log in "$work/$name"/*.log; do [ ! -s "$log" ] || tail -n 20 "$log" >&2; done
        exit 1
    }
    rm -rf "${work:?}/$name"
done
