#!/usr/bin/env bash
# No secret is outside guarded memory, on the stack after use, or in arguments, environment, output or messages of the installed command.
#
# Builds the command as `make build` does, searches it for secrets, and needs root: nobody else may read
# the memory of a process that is not dumpable. First it plants secrets in ordinary memory, which must be found.
#
# - search.py runs 24 commands, stopped at every system call that may wait, and batches that wait for more. Seeds, scalars, the values
#   that signing and sealing derive from them, store keys and passphrases are in guarded memory and nowhere else, as bytes, hexadecimal,
#   base64 and key text. A text that a command reads or writes on request, in our own form or another program's, is in ordinary memory
#   meanwhile, and is gone before the command ends. None is in arguments, environment or output, nor in the output of the transcripts'
#   commands. The process is not dumpable, and a crash leaves no core.
# - Stack checks the stack after each kind of call. It is linked like the command: a library with lazy binding makes the linker save
#   vector registers on the stack, with any key that is still in them.
#
# Not shown:
#
# - Registers, the kernel's own memory, swap.
# - While a key is being moved into guarded memory it is outside: calls that allocate are ignored.
# - The key of an attachment, and the keys and the content of one message, are in ordinary memory by design (Docs/ThreatModel.md, Process memory).
# - What glibc and libsodium leave on other machines, and a command that is linked differently.
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
