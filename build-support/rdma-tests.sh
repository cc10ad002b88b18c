#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that need an RDMA device, where one is available:
#   rdma-tests.sh device|two-hosts|emulated REPORTS [JVM-OPTION…]
# "device" are those tagged "rdma", on one host: on this machine if it has a device, otherwise in User-Mode Linux if
# that works here, which is fastest, and otherwise in an emulated machine. "two-hosts" are those tagged "rdma-two", on
# two such machines, between which they cut the wire. "emulated" are those tagged "huge-pages" or "emulated", on two
# machines of QEMU. FERRULE_RDMA_DEVICE names the device for those on one host, which then run on this machine, in any
# state of the device. Called by ./test; see console-tests.sh for how tests are selected and repeated.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/console-tests.sh"
part=$1
reports=$2
shift 2
# Each message takes long under emulation.
set_jvm -Dferrule.contract.cycles=100 -Dferrule.contract.messages=300 "$@"
# Some tests end the other host, or remove the device.
jvm+=('-Djunit.jupiter.testclass.order.default=org.junit.jupiter.api.ClassOrderer$OrderAnnotation')

on_this_machine() {
  "$root/with-rxe" --host ${FERRULE_RDMA_DEVICE:+--device "$FERRULE_RDMA_DEVICE"} --time-limit 3600 \
    "${jvm[@]}" "${launcher[@]}" </dev/null
}

# If a process that a test has started crashes in QEMU, that test fails, and with-rxe names the process. See "JVM
# crashes under emulation" in docs/rdma.md.
in_qemu() { run_groups "$1" group_in_qemu one; }

group_in_qemu() {
  local folder=$1
  shift
  set_launcher "$folder" "$@"
  "$root/with-rxe" --vm --no-repeat --keep "$folder" --time-limit 3600 "${jvm[@]}" "${launcher[@]}" </dev/null
}

# Returns whether the tests run in User-Mode Linux. With --whole they run on two processors, in QEMU.
has_uml() {
  [ -z "${FERRULE_WHOLE:-}" ] || return 1
  "$root/build-support/rxe/uml.sh" prepare || { echo "the tests run in QEMU, which takes longer"; return 1; }
}

in_uml() { run_groups "$1" group_in_uml; }

group_in_uml() {
  local folder=$1
  shift
  set_launcher /run/rxe/job "$@"
  setpriv --pdeathsig TERM "$root/build-support/rxe/uml.sh" run "$folder" 3600 "${jvm[@]}" "${launcher[@]}"
}

has_device() { [ "${FERRULE_RDMA_DEVICE:-}" ] || "$root/with-rxe" --host true >/dev/null 2>&1; }

# The tests run on the first host; on the second a program starts processes for them.
# shellcheck disable=SC2016 # for the shell in there
BY_HOST='[ "$FERRULE_RXE_HOST" = 1 ] || exec "${@:2:$1}" dev.ferrule.integration.rdma.PeerAgent
  exec "${@:2}"'

TWO_HOSTS_LIMIT=3600  # seconds

in_two_qemus() { run_groups "$1" group_in_two_qemus one; }

group_in_two_qemus() {
  local folder=$1
  shift
  set_launcher "$folder" "$@"
  "$root/with-rxe" --two --no-repeat --keep "$folder" --time-limit "$TWO_HOSTS_LIMIT" \
    bash -c "$BY_HOST" tests "${#jvm[@]}" "${jvm[@]}" "${launcher[@]}" </dev/null
}

in_two_umls() { run_groups "$1" group_in_two_umls one; }

group_in_two_umls() {
  local folder=$1
  shift
  set_launcher /run/rxe/job "$@"
  setpriv --pdeathsig TERM "$root/build-support/rxe/uml.sh" run-two "$folder" "$TWO_HOSTS_LIMIT" \
    bash -c "$BY_HOST" tests "${#jvm[@]}" "${jvm[@]}" "${launcher[@]}"
}

case $part in
  device)
    # Without a named device, those of huge pages run in QEMU.
    set_selection dev.ferrule.integration.rdma "rdma${FERRULE_RDMA_DEVICE:+ | huge-pages}"
    if [ "${FERRULE_COUNT:-}" ] || has_device; then run=on_this_machine; elif has_uml; then run=in_uml; else run=in_qemu; fi
    ;;
  two-hosts)
    set_selection dev.ferrule.integration.rdma rdma-two
    if [ -z "${FERRULE_COUNT:-}" ] && has_uml; then run=in_two_umls; else run=in_two_qemus; fi
    ;;
  emulated)
    set_selection dev.ferrule.integration.rdma 'huge-pages | emulated'
    [ "${FERRULE_COUNT:-}" ] || select_classes
    run=in_two_qemus
    ;;
esac
if [ -n "${FERRULE_COUNT:-}" ]; then
  count_selected
else
  run_attempts "$reports" "$run"
fi
