#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests ./with-rxe: build-support/rxe/selftest.sh; takes one to two minutes. One line for each thing that was looked at.
set -uo pipefail
# So that what is in the background has a process group of its own, as at a terminal, and does not ignore signals.
set -m
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/with-rxe-selftest.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
# So that only our own leftovers are found.
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
cd "$work" || exit
failures=0

ok() { echo "ok      $1"; }
bad() { echo "FAILED  $1"; failures=$((failures + 1)); }
# equal WHAT ACTUAL EXPECTED
equal() { if [ "$2" = "$3" ]; then ok "$1"; else bad "$1: is '$2', should be '$3'"; fi; }
# has WHAT FILE TEXT
has() { if grep -qF -- "$3" "$2"; then ok "$1"; else bad "$1: no '$3' in:"; tail -n 20 "$2" | sed 's/^/        /'; fi; }

# Not a function, or a signal to what is in the background would only reach a shell in between.
with_rxe=$root/with-rxe

# What has a folder of ours as its own, as QEMU has, or as an argument.
processes() {
  local process
  for process in /proc/[0-9]*; do
    if [[ $(readlink "$process/cwd") = "$TMPDIR"/* ]] || grep -qsF "$TMPDIR/ferrule-rxe" "$process/cmdline"; then
      tr '\0' ' ' <"$process/cmdline"
    fi
  done 2>/dev/null
}

nothing_left() {
  # What was killed may take a moment.
  sleep 0.5
  equal "$1: no process is left" "$(processes)" ""
  equal "$1: no file is left" "$(ls "$TMPDIR")" ""
}

# Waits until the file $1 contains $2.
await() {
  local i
  for ((i = 0; i < 600; i++)); do
    ! grep -qF -- "$2" "$1" 2>/dev/null || return 0
    sleep 0.1
  done
  return 1
}

options() {
  "$with_rxe" --nonsense true 2>err
  equal "an unknown option: exit code" $? 2
  equal "an unknown option: one line" "$(wc -l <err)" 1
  equal "--help" "$("$with_rxe" --help | head -n 1)" "usage: ./with-rxe [options] COMMAND [ARG…]"
}

streams_files_and_exit_code() {
  head -c 5000000 /dev/urandom >data
  # shellcheck disable=SC2016 # for the shell in there
  A_VARIABLE='with
  space' "$with_rxe" --vm --keep kept bash -c '
    { rdma link; pwd; echo "$A_VARIABLE" | tail -n 1; echo "limit $(ulimit -l)"; echo "address $FERRULE_RXE_ADDRESS"
      for file in /sys/class/infiniband/*; do echo "device ${file##*/}"; done; } >&2
    echo 1 >kept/file; echo 2 >lost
    "$0" --host sh -c "echo found \$FERRULE_RXE_DEVICE \$FERRULE_RXE_ADDRESS; exit 9" >&2; echo "nested $?" >&2
    rdma link delete rxe0
    "$0" --host sh -c "echo made \$FERRULE_RXE_DEVICE; rdma link" >&2
    echo "removed, left: $(rdma link)." >&2
    cat; exit 3' "$root/with-rxe" <data >out 2>err
  equal "exit code" $? 3
  equal "5 MB through standard input and output" "$(sha256sum <out)" "$(sha256sum <data)"
  has "the device is up" err "link rxe0/1 state ACTIVE"
  has "the folder is the caller's" err "$work"
  has "the environment is the caller's" err "  space"
  has "locked memory is not limited" err "limit unlimited"
  has "the address" err "address 10.77.0.1"
  equal "a kept folder is kept" "$(cat kept/file)" 1
  equal "other files are not" "$(ls lost 2>/dev/null)" ""
  has "a device that is there is used" err "found rxe0 10.77.0.1"
  has "the exit code of a command on the host" err "nested 9"
  has "a device is made on the host" err "made rxe"
  has "and removed again" err "removed, left: ."
  nothing_left "after an ordinary run"
}

reader_that_goes_away() {
  equal "output to a reader that goes away" "$("$with_rxe" --vm yes | head -n 1)" y
}

# Of two runs at once, one ends by a signal and one by the time limit.
signal_and_time_limit() {
  local limited interrupted
  "$with_rxe" --vm --time-limit 20 sleep 1000 2>limited &
  limited=$!
  "$with_rxe" --vm bash -c 'trap "echo caught; exit 0" INT; echo ready; while true; do sleep 0.1; done' \
    >interrupted 2>&1 &
  interrupted=$!
  await interrupted ready
  kill -INT "$interrupted"
  wait "$interrupted"
  equal "SIGINT: exit code" $? 130
  has "SIGINT reaches the command" interrupted caught
  wait "$limited"
  equal "time limit: exit code" $? 124
  equal "time limit: the message" "$(cat limited)" "with-rxe: the time limit of 20 s has passed"
  nothing_left "after a signal and a time limit"
}

group_signal_and_kill() {
  local terminated killed
  "$with_rxe" --vm bash -c 'echo ready; exec sleep 1000' >terminated 2>&1 </dev/null &
  terminated=$!
  "$with_rxe" --vm bash -c 'echo ready; exec sleep 1000' >killed 2>&1 </dev/null &
  killed=$!
  await terminated ready
  kill -TERM -- "-$terminated"
  wait "$terminated"
  equal "SIGTERM to the process group: exit code" $? 143
  await killed ready
  kill -KILL "$killed"
  wait "$killed" 2>/dev/null
  sleep 1
  equal "SIGKILL: no process is left" "$(processes)" ""
  rm -rf "$TMPDIR"/ferrule-rxe.*
}

panic() {
  "$with_rxe" --vm sh -c 'echo c >/proc/sysrq-trigger' 2>err
  equal "panic: exit code" $? 125
  has "panic: the console's end" err "Kernel panic"
  nothing_left "after a panic"
}

two_hosts() {
  # shellcheck disable=SC2016 # for the shell in there
  "$with_rxe" --two bash -c '
    if [ "$FERRULE_RXE_HOST" = 2 ]; then echo second; exec sleep 1000; fi
    # A refused connection comes from a host that is alive. Not every machine has ping.
    reach() {
      timeout 2 bash -c "exec 2>/dev/null 9<>/dev/tcp/$FERRULE_RXE_PEER/9"
      if [ $? = 124 ]; then echo "$1 no"; else echo "$1 yes"; fi
    }
    sleep 1; reach before; rxe-wire down; reach down; rxe-wire up; sleep 1; reach up; rxe-wire kill-peer; reach killed
    exit 4' >out 2>err
  equal "two hosts: exit code" $? 4
  equal "two hosts: the wire" "$(tr '\n' , <out)" "before yes,down no,up yes,killed no,"
  has "two hosts: the second one's output" err second
  nothing_left "after two hosts"
}

[ $# -gt 0 ] || set -- options streams_files_and_exit_code reader_that_goes_away signal_and_time_limit \
  group_signal_and_kill panic two_hosts
for test in "$@"; do "$test"; done
[ "$failures" -eq 0 ] || { echo "$failures failed"; exit 1; }
