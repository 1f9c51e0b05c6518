#!/usr/bin/env bash
# Messages, copies, withdrawals and drops in random orders on a simulated device, some deliveries suspended, some ended by the
# system; COUNT= says how many orders. `make test` runs 200 of them, and 100,000 in memory.
set -euo pipefail
cd "$(dirname "$0")/../../.."
swift build --build-tests --quiet
start=$SECONDS
export WITHDRAWAL_ORDERS=${COUNT:-10000}
swift test --skip-build --filter WithdrawalWalkTests
echo "figure: withdrawals orders=$WITHDRAWAL_ORDERS seconds=$((SECONDS - start))"
