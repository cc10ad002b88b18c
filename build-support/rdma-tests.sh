#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that need an RDMA device, where one is available: rdma-tests.sh CLASSPATH REPORTS [SYSTEM-PROPERTY…]
# First those tagged "rdma", on one host; then those tagged "rdma-two", on two virtual machines, which cut the wire
# between them. Called by Maven; see integration-tests/pom.xml. FERRULE_RDMA_TESTS selects classes by a pattern, such as
# .*Fault.*; those for two hosts run if it contains TwoHosts, otherwise those for one. The system property rdma.device
# names the device for those on one host, which then run on this machine, in any state of the device.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/build-support/find-jdk.sh"
jdk=$(find_jdk) || { explain_missing_jdk; exit 1; }
class_path=$1
reports=$2
shift 2

# Not for the tests' JVM, to which with-rxe passes the device: the tests on two hosts have another one.
on=() properties=()
for argument in "$@"; do
  case $argument in
    -Drdma.device=) ;;
    -Drdma.device=*) on=(--device "${argument#*=}") ;;
    *) properties+=("$argument") ;;
  esac
done

# In a virtual machine every message is slow, and so are the C2 compiler's compilations. The heap is limited because the
# tests also start processes, pin memory and write files, all in the memory of that machine. Assertions are enabled, as
# under Maven: with them Ferrule checks that only one thread uses a Sender or a Receiver.
java=("$jdk/bin/java" "${properties[@]}" -ea -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1
  "-XX:ErrorFile=$reports/hs_err_pid%p.log"
  -Djunit.jupiter.execution.timeout.threaddump.enabled=true --enable-native-access=ALL-UNNAMED -cp "$class_path")

# Mockito's agent, as in the tests run by Maven; see ${mockito.jvm} in pom.xml. For some mocks of these tests it uses
# Unsafe, about which the JDK warns.
agent=$(tr : '\n' <<<"$class_path" | grep -m 1 '/mockito-core-[^/]*\.jar$' || true)
[ -z "$agent" ] || java+=("-javaagent:$agent" -Xshare:off --sun-misc-unsafe-memory-access=allow)

# Sets the command that runs the tests of the tag $1, with reports to $2. If this JVM crashes in an emulated virtual
# machine, with-rxe repeats the tests once, provided that there is no standard input; the JVM's crash report is kept. If
# a process started by a test crashes, that test fails, and with-rxe names the process. See "JVM crashes under
# emulation" in docs/rdma.md.
set_tests() {
  tests=("${java[@]}" org.junit.platform.console.ConsoleLauncher execute
    --disable-banner --disable-ansi-colors --details="${FERRULE_RDMA_DETAILS:-summary}" --fail-if-no-tests
    --reports-dir "$2" --select-package dev.ferrule.integration.rdma --include-tag "$1"
    --include-classname "${FERRULE_RDMA_TESTS:-.*Test(\$.*)?}")
}

# This script again, as the command of both hosts: the tests run on the first, the second starts processes for them.
case ${FERRULE_RDMA_INSIDE:-}${FERRULE_RXE_HOST:-} in
  yes1)
    set_tests rdma-two "$reports/two"
    exec "${tests[@]}"
    ;;
  yes2) exec "${java[@]}" dev.ferrule.integration.rdma.PeerAgent ;;
esac

pattern=${FERRULE_RDMA_TESTS:-}
if [ -z "$pattern" ] || [[ $pattern != *TwoHosts* ]]; then
  set_tests rdma "$reports"
  "$root/with-rxe" "${on[@]}" --keep "$reports" --time-limit 2400 "${tests[@]}" </dev/null
fi
if [ -z "$pattern" ] || [[ $pattern = *TwoHosts* ]]; then
  FERRULE_RDMA_INSIDE=yes "$root/with-rxe" --two --keep "$reports" --time-limit 600 \
    "$root/build-support/rdma-tests.sh" "$class_path" "$reports" "${properties[@]}" </dev/null
fi
