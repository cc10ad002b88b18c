# SPDX-License-Identifier: Apache-2.0
# Sourced by ./with-rxe: the wire between the two machines of --two, and the operations of rxe-wire.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of with-rxe and its other parts

monitor=()  # per machine, the descriptor of the FIFO to QEMU's monitor
answers_of=()  # and of the FIFO from it
requests=0  # the number of commands that the monitors have received

# Adds machine $1's end of the wire to arguments. Machine 1 is started first and listens.
wire_arguments() {
  local server=off fifo
  [ "$1" != 1 ] || server=on
  mkfifo "$run/monitor$1.in" "$run/monitor$1.out"
  exec {fifo}<>"$run/monitor$1.in"
  monitor[$1]=$fifo
  arguments+=(-netdev "stream,id=wire,server=$server,addr.type=unix,addr.path=wire"
    -device "virtio-net-pci,netdev=wire,romfile=,mac=52:54:00:77:00:0$1"
    -chardev "pipe,id=monitor,path=monitor$1" -mon "chardev=monitor,mode=control")
}

# Waits until machine 2 can connect.
wait_for_wire() {
  while [ "$SECONDS" -lt "$boot_deadline" ] && [ -z "$signal" ]; do
    [ ! -S "$run/wire" ] || return 0
    kill -0 "${qemu[1]}" 2>/dev/null || break
    sleep 0.1
  done
  give_up 1 "the virtual machine has not started; --two needs QEMU 7.2 or newer"
}

# Executes machine $1's request and answers it with its number $2: $3 is up, down, kill-peer or kill-self.
answer_wire() {
  local machine=$1 number=$2 what=$3 answer="done"
  explain "host $machine: $what"
  case $what in
    up) set_link true || answer="QEMU did not connect the wire" ;;
    down) set_link false || answer="QEMU did not disconnect the wire" ;;
    kill-peer) kill_machine $((3 - machine)) ;;
    kill-self) kill_machine "$machine" ;;
    *) answer="unknown request $what" ;;
  esac
  [ "${killed[$machine]:-}" ] || echo "answer $number $answer" >&"${control[$machine]}"
}

# Sets both ends, as with a real wire: each machine loses or regains its carrier.
set_link() {
  local machine
  for machine in 1 2; do
    [ "${killed[$machine]:-}" ] \
      || command_qemu "$machine" set_link '"arguments": {"name": "wire", "up": '"$1"'}' || return
  done
}

# Sends QEMU's monitor the command $2 with the arguments $3, and waits up to a minute for its answer.
command_qemu() {
  local line answers=${answers_of[$1]:-}
  if [ -z "$answers" ]; then
    exec {answers}<>"$run/monitor$1.out"
    answers_of[$1]=$answers
    command_qemu "$1" qmp_capabilities '"arguments": {}' || return
  fi
  requests=$((requests + 1))
  echo "{\"execute\": \"$2\", \"id\": $requests, $3}" >&"${monitor[$1]}"
  # Greetings, events and late answers to earlier commands arrive between the answers. Not by "read -t", see vm.sh.
  # shellcheck disable=SC2016 # Perl's variables
  line=$(helper perl -ne 'BEGIN { $id = shift; $SIG{ALRM} = sub { exit 1 }; alarm 60 }
    if (/"id": $id[,}]/) { print; exit }' "$requests" <&"$answers") || return
  case $line in *'"return"'*) return 0 ;; esac
  explain "QEMU: $line"
  return 1
}

# Kills a machine without a shutdown, between two instructions.
kill_machine() {
  killed[$1]=yes
  kill -KILL "${qemu[$1]}" 2>/dev/null || true
  wait "${qemu[$1]}" 2>/dev/null || true
  [ "$1" = 1 ] || return 0
  # No machine is left whose exit code could count.
  result=137
  over=yes
}
