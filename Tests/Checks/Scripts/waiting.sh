# shellcheck shell=bash disable=SC2034 Sourced by the test runners: the suites of extensions and tasks. They wait for
# threads, and the others compute for a long time, so each kind runs in a separate process; otherwise the first would
# find no free thread in Swift's pool.
waiting='^(BatchTests|ServiceTests|SimulatorTests|StandInTests)\.'
