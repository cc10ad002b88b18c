#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs commands and tests on an emulated aarch64 processor; see ./with-arch:
#   verify.sh [4|16]…
# with pages of 4 and of 16 KiB, or only those given. Commands: doctor, and latency and rma of each provider. Tests:
# those of posix and verbs, the contract of sm, its ring and its memory for RMA, and those of the verbs on a device;
# without those with the tags long, whole and interleaving. Each machine boots once for the commands, and once for the
# tests, which are repeated as in ./test if they fail. FERRULE_TESTS selects tests by a regular expression, as
# ./test --tests does. Reports are in target/arch.
# shellcheck disable=SC2016,SC2034,SC2154 # text for a shell there; variables of console-tests.sh
set -euo pipefail
# shellcheck source=build-support/console-tests.sh
. "$(dirname "${BASH_SOURCE[0]}")/../console-tests.sh"
if [ $# -gt 0 ]; then sizes=("$@"); else sizes=(4 16); fi

# Not HeadersTest, which needs compilers, and runs on the host; nor LanesTest, whose rounds take too long.
CLASSES='^dev[.]ferrule[.](posix[.](?!Headers)\w+|verbs[.](\w+[.])?\w+|sm[.]Sm\w+Contract|sm[.](rma|ring)[.](?!Lanes)\w+'
CLASSES+='|integration[.]rdma[.]VerbsDevice)Test$'

# Threads that spin would take the processors from those for which they wait.
COMMANDS='
  set -e
  export FERRULE_OPTIONS=connectTimeout=5m
  step() { echo "== $*"; "$@"; }
  echo "pages of $(getconf PAGESIZE) bytes"
  step ./ferrule doctor
  for provider in sm sendrecv magicring; do
    step ./ferrule latency --provider "$provider" --size 64,8192 --messages 100 --warmup 20 --rounds 1 --wait block
    step ./ferrule rma --provider "$provider" --size 8,65536 --messages 20 --warmup 5 --rounds 1 --wait block
  done
'

# Sets FERRULE_TEST_CLASS_PATH, unless the caller has: the classes of the tests, compiled on this machine.
compile() {
  [ -z "${FERRULE_TEST_CLASS_PATH:-}" ] || return 0
  local maven=mvn module
  prepare_maven "$jdk"
  command -v mvn >/dev/null || maven=$root/mvnw
  (cd "$root" && "$maven" -B -ntp -q -T 2 -Pall -pl integration-tests,spi-sm,posix,verbs -am test-compile \
    -Dspotless.check.skip -Dmaven.javadoc.skip) </dev/null
  FERRULE_TEST_CLASS_PATH=
  for module in integration-tests spi-sm posix verbs provider-support; do
    FERRULE_TEST_CLASS_PATH+=$root/$module/target/test-classes:
  done
  # The file has no newline at its end.
  FERRULE_TEST_CLASS_PATH+=$(<"$root/integration-tests/target/test-classpath")
}

in_machine() {
  (cd "$root/spi-sm" && "$root/with-arch" --pages "$pages" --no-repeat --keep "$1" --time-limit 5400 aarch64 \
    java "${jvm[@]:1}" "${launcher[@]}" </dev/null)
}

compile
result=0
for pages in "${sizes[@]}"; do
  reports=$root/target/arch/pages-$pages
  (cd "$root" && ./with-arch --pages "$pages" --time-limit 3600 aarch64 bash -c "$COMMANDS" </dev/null) || result=1
  # Each message takes long under emulation.
  set_jvm -Dferrule.contract.cycles=100 -Dferrule.contract.messages=300 -Dferrule.soak.retirements=200 \
    "-Dferrule.tests.pick=${FERRULE_TESTS:-}"
  filters=("--include-classname=$CLASSES" --exclude-tag long --exclude-tag whole --exclude-tag interleaving)
  selection=(--select-package dev.ferrule "${filters[@]}")
  select_classes
  run_attempts "$reports" in_machine || result=1
  awk -F '\t' '{ count[$1]++ } END { for (outcome in count) if (outcome != "ENDED") print outcome, count[outcome] }' \
    "$reports"/*/results.tsv
done
exit "$result"
