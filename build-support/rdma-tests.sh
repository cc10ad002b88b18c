#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that need an RDMA device, where there is one: rdma-tests.sh CLASSPATH REPORTS [SYSTEM-PROPERTY…]
# First those tagged "rdma", on one host: the contract of each provider and mode in one JVM, and the others in another one
# beside it, as either waits more than it computes. Then those tagged "rdma-two", on two virtual machines, which break the
# wire between them. Maven calls this; see integration-tests/pom.xml. FERRULE_RDMA_TESTS picks classes by a pattern, such as
# .*Fault.*, which run in one JVM; those for two hosts are run then if it says TwoHosts, and those for one if it does not.
# The system property rdma.device names the device for those on one host, which then run on this machine, in whatever
# state the device is.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/build-support/find-jdk.sh"
jdk=$(find_jdk) || { explain_missing_jdk; exit 1; }
class_path=$1
reports=$2
shift 2

# Not for the tests' JVM, which learns of the device from with-rxe: those on two hosts have another one.
on=() properties=()
for argument in "$@"; do
  case $argument in
    -Drdma.device=) ;;
    -Drdma.device=*) on=(--device "${argument#*=}") ;;
    *) properties+=("$argument") ;;
  esac
done

# In a virtual machine every message is slow, and so are the C2 compiler's compilations. The heap has a limit because the
# tests start processes, pin memory and write files beside it, all in the memory of that machine.
java=("$jdk/bin/java" "${properties[@]}" -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1
  --enable-native-access=ALL-UNNAMED -cp "$class_path")

CONTRACT='.*ContractTest(\$.*)?'
OTHERS='(?!.*ContractTest(\$.*)?$).*Test(\$.*)?'

# Runs the tests of the tag $1 in classes whose names match $2; reports go to $3.
run_tests() {
  "${java[@]}" org.junit.platform.console.ConsoleLauncher execute \
    --disable-banner --disable-ansi-colors --details="${FERRULE_RDMA_DETAILS:-summary}" --fail-if-no-tests \
    --reports-dir "$3" --select-package dev.ferrule.integration.rdma --include-tag "$1" --include-classname "$2"
}

# What the contract's tests say is shown when they are done, so that it does not mix with what the others say.
run_both() {
  local said=$reports/contract/output contract result=0
  mkdir -p "$reports/contract"
  run_tests rdma "$CONTRACT" "$reports/contract" >"$said" 2>&1 &
  contract=$!
  run_tests rdma "$OTHERS" "$reports" || result=$?
  wait "$contract" || result=$?
  cat "$said"
  return "$result"
}

# This script again, as the command of each host.
pattern=${FERRULE_RDMA_TESTS:-}
case ${FERRULE_RDMA_INSIDE:-}${FERRULE_RXE_HOST:-} in
  one) run_both; exit ;;
  two1) run_tests rdma-two "${pattern:-.*}" "$reports/two"; exit ;; # starts processes on the other host
  two2) exec "${java[@]}" dev.ferrule.integration.rdma.PeerAgent ;;
  pattern) run_tests rdma "$pattern" "$reports"; exit ;;
esac

# Runs this script where there is a device, as $1 says, with the rest as options of with-rxe.
inside() {
  local what=$1
  shift
  FERRULE_RDMA_INSIDE=$what "$root/with-rxe" "$@" --keep "$reports" \
    "$root/build-support/rdma-tests.sh" "$class_path" "$reports" "${properties[@]}"
}

case $pattern in
  '')
    inside one "${on[@]}" --time-limit 1300
    inside two --two --time-limit 600
    ;;
  *TwoHosts*) inside two --two --time-limit 600 ;;
  *) inside pattern "${on[@]}" --time-limit 1300 ;;
esac
