#!/usr/bin/env bash
# No secret is outside guarded memory, on the stack after use, or in arguments, environment, output or messages of the
# installed command. Tests/Checks/Secrets/README.md describes what this shows and what it does not. Needs root: no one
# else may read that memory.
set -euo pipefail
cd "$(dirname "$0")/../../.."
export SWIFT_BACKTRACE=enable=no
scratch=.build/long/secrets/build
mkdir -p "$scratch"

# With the options of `make build`: linking determines what the dynamic linker leaves on the stack.
make -s archives
options=$(make -s --eval 'options: ; @echo $(STATIC)' options)
for product in pushcrypt StackSecrets; do
    swift build -c release $options --scratch-path "$scratch" --product "$product" --quiet
done
"$scratch/release/StackSecrets"
exec python3 Tests/Checks/Secrets/search.py "$scratch/release/pushcrypt" Tests/Data/Transcripts
