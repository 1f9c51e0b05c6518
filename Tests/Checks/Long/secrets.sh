#!/usr/bin/env bash
# No secret lies outside guarded memory, on the stack after use, in arguments, environment, output or messages, of the command as it is
# installed. Tests/Checks/Proofs/README.md says what that shows and what not. Needs root: nobody else may read that memory.
set -euo pipefail
cd "$(dirname "$0")/../../.."
export SWIFT_BACKTRACE=enable=no
scratch=.build/long/secrets/build
mkdir -p "$scratch"

# With the options of `make build`: how it is linked decides what the linker leaves on the stack.
make -s archives
options=$(make -s --eval 'options: ; @echo $(STATIC)' options)
for product in pushcrypt Proofs; do
    swift build -c release $options --scratch-path "$scratch" --product "$product" --quiet
done
"$scratch/release/Proofs" stack
exec python3 Tests/Checks/Proofs/Secrets/secrets_proof.py "$scratch/release/pushcrypt" Tests/Data/Transcripts
