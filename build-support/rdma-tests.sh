#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that need an RDMA device, where one is available: rdma-tests.sh device|two-hosts REPORTS [JVM-OPTION…]
# "device" are those tagged "rdma", on one host; "two-hosts" those tagged "rdma-two", on two virtual machines, which cut
# the wire between them. FERRULE_RDMA_DEVICE names the device for those on one host, which then run on this machine, in
# any state of the device. Called by ./test; see console-tests.sh for how tests are selected and repeated.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/console-tests.sh"
part=$1
reports=$2
shift 2
# Each message takes long under emulation.
set_jvm -Dferrule.contract.cycles=100 -Dferrule.contract.messages=300 "$@"
# Some of the tests on two hosts end the other one.
jvm+=('-Djunit.jupiter.testclass.order.default=org.junit.jupiter.api.ClassOrderer$OrderAnnotation')

# If this JVM crashes in an emulated virtual machine, with-rxe repeats the tests once, provided that there is no standard
# input; the JVM's crash report is kept. If a process started by a test crashes, that test fails, and with-rxe names the
# process. See "JVM crashes under emulation" in docs/rdma.md.
on_one_host() {
  "$root/with-rxe" ${FERRULE_RDMA_DEVICE:+--device "$FERRULE_RDMA_DEVICE"} --keep "$1" --time-limit 3600 \
    "${jvm[@]}" "${launcher[@]}" </dev/null
}

# The tests run on the first host; on the second a program starts processes for them.
on_two_hosts() {
  # shellcheck disable=SC2016 # for the shell in there
  "$root/with-rxe" --two --keep "$1" --time-limit 900 bash -c '
    [ "$FERRULE_RXE_HOST" = 1 ] || exec "${@:2:$1}" dev.ferrule.integration.rdma.PeerAgent
    exec "${@:2}"' tests "${#jvm[@]}" "${jvm[@]}" "${launcher[@]}" </dev/null
}

case $part in
  device)
    set_selection dev.ferrule.integration.rdma rdma
    run=on_one_host
    ;;
  two-hosts)
    set_selection dev.ferrule.integration.rdma rdma-two
    run=on_two_hosts
    ;;
esac
if [ -n "${FERRULE_COUNT:-}" ]; then
  count_selected
else
  run_attempts "$reports" "$run"
fi
