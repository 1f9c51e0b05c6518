# shellcheck shell=bash disable=SC2034
# Sourced by what runs the tests: the suites of an extension and of tasks. They wait for threads, and the others compute for long, so each
# kind runs in a process of its own, or the first would find no thread of Swift's pool free.
waiting='^(BatchTests|ServiceTests|SimulatorTests|StandInTests)\.'
