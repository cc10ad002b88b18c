#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that need an RDMA device, where one is available: rdma-tests.sh device|two-hosts REPORTS [JVM-OPTION…]
# "device" are those tagged "rdma", on one host: on this machine if it has a device, otherwise in User-Mode Linux if that
# works here, which is fastest, and otherwise in an emulated machine. "two-hosts" are those tagged "rdma-two", on two
# virtual machines, which cut the wire between them, and those tagged "huge-pages", which only QEMU has.
# FERRULE_RDMA_DEVICE names the device for those on one host, which then run on this machine, in any state of the device.
# Called by ./test; see console-tests.sh for how tests are selected and repeated.
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

# Returns whether the tests on one host run in User-Mode Linux. With --whole they also meet two processors, in QEMU.
has_uml() {
  [ -z "${FERRULE_RDMA_DEVICE:-}${FERRULE_WHOLE:-}" ] || return 1
  ! "$root/with-rxe" --host true >/dev/null 2>&1 || return 1
  "$root/build-support/rxe/uml.sh" prepare || { echo "the tests run in QEMU, which takes longer"; return 1; }
}

in_uml() { run_groups "$1" group_in_uml; }

group_in_uml() {
  local folder=$1
  shift
  set_launcher /run/rxe/job "$@"
  setpriv --pdeathsig TERM "$root/build-support/rxe/uml.sh" run "$folder" 3600 "${jvm[@]}" "${launcher[@]}"
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
    # Where the device is emulated, those of huge pages run in the other part.
    set_selection dev.ferrule.integration.rdma "rdma${FERRULE_RDMA_DEVICE:+ | huge-pages}"
    run=on_one_host
    if [ -z "${FERRULE_COUNT:-}" ] && has_uml; then run=in_uml; fi
    ;;
  two-hosts)
    set_selection dev.ferrule.integration.rdma 'rdma-two | huge-pages'
    run=on_two_hosts
    ;;
esac
if [ -n "${FERRULE_COUNT:-}" ]; then
  count_selected
else
  run_attempts "$reports" "$run"
fi
