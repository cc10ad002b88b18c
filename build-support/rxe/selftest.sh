#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests ./with-rxe: build-support/rxe/selftest.sh; takes some minutes. Prints one line for each check.
set -uo pipefail
# Background processes get a process group of their own, as at a terminal, and do not ignore signals.
set -m
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/with-rxe-selftest.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
# Only this test's leftovers are found.
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

# Not a function: a signal to a background process would only reach a shell in between.
with_rxe=$root/with-rxe

# Prints the processes with a folder of the test as their working directory, as QEMU, or as an argument.
processes() {
  local process
  for process in /proc/[0-9]*; do
    if [[ $(readlink "$process/cwd") = "$TMPDIR"/* ]] || grep -qsF "$TMPDIR/ferrule-rxe" "$process/cmdline"; then
      tr '\0' ' ' <"$process/cmdline"
    fi
  done 2>/dev/null
}

nothing_left() {
  # Killed processes may take a moment to disappear.
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

# card NAME STATE: creates a card with one port in the folder sysfs, which the caller has created.
card() {
  mkdir -p "sysfs/class/infiniband/$1/ports/1/gid_attrs/ndevs"
  echo "$2" >"sysfs/class/infiniband/$1/ports/1/state"
}

# gid CARD INDEX NETDEV: adds a GID to it.
gid() { echo "$3" >"sysfs/class/infiniband/$1/ports/1/gid_attrs/ndevs/$2"; }

# ipoib CARD NETDEV DEV_PORT: adds a network device of the card that no GID names.
ipoib() {
  mkdir -p "sysfs/class/infiniband/$1/device/net/$2"
  echo "$3" >"sysfs/class/infiniband/$1/device/net/$2/dev_port"
}

# chosen OPTION…: prints the device chosen from the folder sysfs, on a machine where none can be created.
chosen() {
  # shellcheck disable=SC2016 # for the shell in there
  PATH=$work/programs:$PATH FERRULE_RXE_SYSFS=$work/sysfs \
    "$with_rxe" "$@" sh -c 'echo "$FERRULE_RXE_DEVICE at $FERRULE_RXE_ADDRESS"' 2>err
}

# Tests with cards that are only files.
choice_of_device() {
  mkdir -p programs
  # shellcheck disable=SC2016 # for the shell that runs it
  printf '%s\n' '#!/bin/sh' 'case "$*" in' \
    '*" dev with4") echo "7: with4    inet 10.1.2.3/24 brd 10.1.2.255 scope global with4" ;;' \
    '*" dev with5") echo "8: with5    inet 10.1.2.5/24 brd 10.1.2.255 scope global with5" ;;' \
    '*" dev ferrule99") echo "9: ferrule99    inet 10.77.9.1/24 scope global ferrule99" ;;' \
    'esac' >programs/ip
  # shellcheck disable=SC2016 # for the shell that runs it
  printf '%s\n' '#!/bin/sh' '[ "$*" != rdma_rxe ] || exit 1' 'PATH=${PATH#*:} exec modprobe "$@"' >programs/modprobe
  printf '%s\n' '#!/bin/sh' 'exit 1' >programs/rdma
  chmod +x programs/*

  mkdir -p sysfs/class/infiniband
  equal "no card" "$(chosen --host)" ""
  equal "no card: one line" "$(wc -l <err)" 1
  has "no card: the message" err "with-rxe: no usable RDMA device, and none can be created: "

  card mlx5_0 "1: DOWN"
  gid mlx5_0 0 with4
  equal "a card that is down" "$(chosen --host; echo $?)" 1
  has "a card that is down: the message" err \
    "mlx5_0 is not used: its port 1 is DOWN, not ACTIVE; connect it, or: ip link set with4 up; or use it"
  equal "a card that is down, by its name" "$(chosen --device mlx5_0)" "mlx5_0 at 10.1.2.3"
  has "a card that is down, by its name: the message" err "mlx5_0 may not work: its port 1 is DOWN"
  equal "a name that no card has" "$(chosen --device mlx5_9; echo $?)" 1
  has "a name that no card has: the message" err "no RDMA device mlx5_9 on this machine"

  card mlx5_1 "4: ACTIVE"
  gid mlx5_1 0 without
  equal "a card without an address" "$(chosen --host; echo $?)" 1
  has "a card without an address: the message" err \
    "mlx5_1 is not used: its port 1 has no IPv4 address; add one: ip address add ADDRESS/PREFIX dev without; or"
  has "a card without an address: and the one before" err "mlx5_0 is not used"
  equal "a card without an address, by its name" "$(FERRULE_RXE_ADDRESS=stale chosen --device mlx5_1)" "mlx5_1 at "

  equal "cards that cannot be used: the virtual machine" "$(chosen --verbose)" "rxe0 at 10.77.0.1"
  has "cards that cannot be used: the first is named" err "mlx5_0 is not used: its port 1 is DOWN"
  has "cards that cannot be used: the second is named" err "mlx5_1 is not used: its port 1 has no IPv4 address"

  card mlx5_2 "4: ACTIVE"
  equal "a card without a network device" "$(chosen --host; echo $?)" 1
  has "a card without a network device: the message" err "mlx5_2 is not used: its port 1 has no network device"

  card mlx5_3 "4: ACTIVE"
  gid mlx5_3 0 without
  gid mlx5_3 3 with4
  equal "the network device of a later GID, of a later card" "$(chosen --host)" "mlx5_3 at 10.1.2.3"
  equal "a card that works: no message" "$(wc -l <err)" 0
  card mlx4_9 "4: ACTIVE"
  gid mlx4_9 0 ferrule99
  equal "a device that another run will remove is not used" "$(chosen --host)" "mlx5_3 at 10.1.2.3"
  equal "with a card that works, another by its name" "$(chosen --device mlx5_2)" "mlx5_2 at "

  rm -r sysfs
  card mlx4_0 "4: ACTIVE"
  ipoib mlx4_0 with4 0
  equal "IPoIB" "$(chosen --host)" "mlx4_0 at 10.1.2.3"
  mkdir -p sysfs/class/infiniband/mlx4_0/ports/2
  echo "4: ACTIVE" >sysfs/class/infiniband/mlx4_0/ports/2/state
  ipoib mlx4_0 with5 1
  echo "2: INIT" >sysfs/class/infiniband/mlx4_0/ports/1/state
  equal "IPoIB on the second port" "$(chosen --host)" "mlx4_0 at 10.1.2.5"
  # The port number of a card with one port is arbitrary.
  rm -r sysfs
  card mlx4_0 "4: ACTIVE"
  ipoib mlx4_0 with5 1
  equal "IPoIB on the second of two cards in one" "$(chosen --host)" "mlx4_0 at 10.1.2.5"
  nothing_left "after the choice of a device"
}

# Conditions caused by others: no space, a device of another run, another version of the script.
beside_others() {
  # A limit on the size of files is like a full file system.
  (ulimit -f 100; exec "$with_rxe" --host true) 2>err
  equal "no space for the run's folder: exit code" $? 1
  has "no space for the run's folder: the message" err "set TMPDIR to another folder"
  nothing_left "after a run without space"

  mkdir -p others-programs others/class others/devices/virtual/infiniband
  # All addresses but one are in use.
  # shellcheck disable=SC2016 # for the shell that runs it
  printf '%s\n' '#!/bin/sh' 'case "$*" in' '"-4 -o address show")' \
    'for i in $(seq 250); do [ "$i" = 7 ] || echo "1: v inet 10.77.$i.1/24 scope global v"; done ;;' 'esac' \
    >others-programs/ip
  printf '%s\n' '#!/bin/sh' 'echo "$*" >>"$CALLS"' >others-programs/modprobe
  printf '%s\n' '#!/bin/sh' 'exit 0' >others-programs/rdma
  chmod +x others-programs/*
  # shellcheck disable=SC2016 # for the shell in there
  made() {
    PATH=$work/others-programs:$PATH CALLS=$work/calls FERRULE_RXE_SYSFS=$work/others \
      "$with_rxe" --host sh -c 'echo "$FERRULE_RXE_ADDRESS"' 2>err
  }
  rm -f calls
  equal "an address that no other run has" "$(made)" 10.77.7.1
  equal "a module that no other run uses is unloaded" "$(tr '\n' , <calls)" "rdma_rxe,-r rdma_rxe,"
  rm -f calls
  mkdir others/devices/virtual/infiniband/rxe99
  made >/dev/null
  equal "a module that another run uses is not unloaded" "$(tr '\n' , <calls)" "rdma_rxe,"
  nothing_left "after runs beside others"

  mkdir copy
  cp -r "$root/with-rxe" "$root/build-support" copy
  # shellcheck disable=SC2016 # for the shell in there
  PATH=$work/others-programs:$PATH CALLS=$work/calls FERRULE_RXE_SYSFS=$work/others \
    copy/with-rxe --host sh -c 'yes "exit 77" | head -n 3000 >copy/with-rxe; exit 5' 2>err
  equal "a run whose file is replaced meanwhile" $? 5
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

# Of two concurrent runs, one ends by a signal and one by the time limit.
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
  equal "time limit: the message" "$(cat limited)" "with-rxe: time limit of 20 s exceeded"
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

# The command continues after the kernel has killed its child.
out_of_memory() {
  "$with_rxe" --vm --memory 400 bash -c 'perl -e "push @all, q(a) x 1_000_000 while 1"; exit 5' 2>err
  equal "out of memory: exit code" $? 5
  has "out of memory: the message" err \
    "ran out of memory, and its kernel killed perl. Give more than 400 MiB with --memory"
  nothing_left "after a machine without memory"
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

# crashing [OPTION…] SCRIPT: runs SCRIPT in the virtual machine; $1 in it is the number of its runs, including this one.
# Prints the exit code and the number of runs.
crashing() {
  local script=${*: -1}
  rm -rf crashes
  # shellcheck disable=SC2016 # for the shell in there
  FERRULE_RXE_ACCEL=tcg "$with_rxe" "${@:1:$#-1}" --keep crashes sh -c 'if [ "${FERRULE_RXE_HOST:-}" != 2 ]; then
    echo run >>crashes/runs; fi; set -- $(wc -l <crashes/runs); '"$script" >out 2>err
  echo "$?, $(wc -l <crashes/runs)"
}

# shellcheck disable=SC2016 # for the shell in there
repeat_after_crash() {
  local once='[ "$1" -gt 1 ] || kill -SEGV $$; echo through; exit 3'
  equal "a crash: repeated, exit code and runs" "$(crashing --vm "$once" </dev/null)" "3, 2"
  equal "a crash: the output" "$(cat out)" through
  equal "a crash: one line" "$(wc -l <err)" 1
  has "a crash: the message" err \
    "with-rxe: the command died of SIGSEGV, which QEMU's emulation can cause: it is repeated, once, in a new virtual"
  has "a crash: the option" err "(not with --no-repeat)"
  nothing_left "after a crash"
  equal "a crash, twice" "$(crashing --vm 'kill -ABRT $$' </dev/null)" "134, 2"
  has "a crash, twice: the message" err "the command died of SIGABRT when it was repeated"
  equal "a crash with standard input closed" "$(crashing --vm "$once" <&-)" "3, 2"
  equal "a crash on host 1 of two" "$(crashing --two '[ "$FERRULE_RXE_HOST" = 1 ] || exec sleep 1000; '"$once" \
    </dev/null)" "3, 2"
  nothing_left "after a crash on one of two hosts"
}

# shellcheck disable=SC2016 # for the shell in there
no_repeat() {
  equal "an ordinary failure: not repeated" "$(crashing --vm 'exit 1' </dev/null)" "1, 1"
  equal "an ordinary failure: no message" "$(wc -l <err)" 0
  equal "the exit code of a crash and no crash: not repeated" "$(crashing --vm 'exit 139' </dev/null)" "139, 1"
  equal "the exit code of a crash and no crash: no message" "$(wc -l <err)" 0
  equal "a child crashes: not repeated" "$(crashing --vm 'perl -e "kill 6, \$\$"; exit 7' </dev/null)" "7, 1"
  equal "a child crashes: named" "$(sed -n 's/.*rdma.md: //p' err)" "perl of SIGABRT"
  equal "a child's crash that the command handles" "$(crashing --vm 'perl -e "kill 6, \$\$"; exit 0' </dev/null)" "0, 1"
  equal "a child's crash that the command handles: no message" "$(grep with-rxe: err)" ""
  equal "a crash with standard input" "$(echo | crashing --vm 'kill -SEGV $$')" "139, 1"
  has "a crash with standard input: the message" err "it is not repeated because its standard input may have been read"
  equal "a crash with --no-repeat" "$(crashing --vm --no-repeat 'kill -SEGV $$' </dev/null)" "139, 1"
  has "a crash with --no-repeat: the message" err "the command died of SIGSEGV, which QEMU's emulation can cause"
}

[ $# -gt 0 ] || set -- options beside_others streams_files_and_exit_code choice_of_device reader_that_goes_away \
  signal_and_time_limit group_signal_and_kill panic out_of_memory two_hosts \
  repeat_after_crash no_repeat
for test in "$@"; do "$test"; done
[ "$failures" -eq 0 ] || { echo "$failures failed"; exit 1; }
