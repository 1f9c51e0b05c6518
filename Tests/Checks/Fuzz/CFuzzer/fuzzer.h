// libFuzzer as a library; the compiler links it when it is told `-sanitize=fuzzer`.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Calls `test` with one input after another, as `argv` says; gives the exit code of the process.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *data, size_t size));
