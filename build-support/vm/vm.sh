# SPDX-License-Identifier: Apache-2.0
# Sourced by ./with-rxe and ./with-arch: runs the command in a virtual machine, or in two. All files of a run are in the
# folder $run, which is also QEMU's working directory, so that names are short.
#
# A machine has four ports: in, out and err for the command's standard streams and control for lines of text. Each is a
# FIFO here. The events of both machines are lines in the one FIFO "events", each with the machine's number: those of
# the control ports and of relay.pl. Each is written by one write(2) of at most PIPE_BUF bytes, which is atomic. A
# further process writes "tick" there, so that the events can be read without a time limit: "read -t" can lose a part of
# a line, and also the end of one that it returns.
#
# The script sets emulator, the program; accelerator; console, the kernel's name of the serial port; files, the folder
# with the machine's root file system; and shared, folders of this machine that it has as well. Its function
# processor_arguments adds to QEMU's arguments, and write_device to a job.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of the script and its other parts

# Variables that name resources which are not reachable from inside.
LEFT_OUT='^(OLDPWD|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|TMUX|NOTIFY_SOCKET|SSH_AUTH_SOCK|DBUS_SESSION_BUS_ADDRESS|'
LEFT_OUT+='XDG_RUNTIME_DIR)='
BOOT_LIMIT=900  # seconds; it takes 10 on an idle machine, and a machine that fails ends
GRACE=10        # seconds for a command to exit after a signal
SAID_AFTER=5    # seconds after which a boot is announced
# No pattern for the free text at the end of a line: it need not be valid in this locale.
EVENT='^[12] (started$|failed |closed (out|err)$|drained (out|err)$|crashed |wire [0-9]+ |ended [0-9]{1,3}$)'

# Indexed by machine number.
qemu=() control=() control_relay=() in_relay=() out_relay=() err_relay=() booted=() ended=() drained=() killed=()
clock=    # the process that writes the ticks
signal=   # the signal received by the script
kill_at=  # the time when the machines are killed, in $SECONDS
over=     # the run is over
waiting=  # the boot has been announced, or need not be
result=   # the exit code
shared=()
crashed=()  # processes that died of SIGSEGV or SIGABRT: "java of SIGABRT"

# Runs the command, possibly twice; sets result.
run_in_vm() {
  trap 'signal=INT' INT
  trap 'signal=TERM' TERM
  trap 'signal=HUP' HUP
  if [ "$two" ]; then
    machines=(1 2)
    cpus=2
  else
    machines=(1)
  fi
  run_machines
  judge_crash
}

# Runs the command once; sets result.
run_machines() {
  local machine
  mark=ferrule-$(od -An -N 16 -tx1 /dev/urandom | tr -d ' \n')
  mkfifo "$run/events"
  exec {events}<>"$run/events"
  helper perl -e 'while (1) { select(undef, undef, undef, 0.5); syswrite(STDOUT, "tick\n"); }' >&"$events" &
  clock=$!
  started_at=$SECONDS
  deadline=$((SECONDS + time_limit))
  boot_deadline=$((SECONDS + BOOT_LIMIT))
  for machine in "${machines[@]}"; do
    write_job "$machine"
    start_machine "$machine"
    if [ "$two" ] && [ "$machine" = 1 ]; then wait_for_wire; fi
  done
  attend
  [ -z "$two" ] || end_second
  stop_machines
  for machine in "${machines[@]}"; do explain_starved "$machine"; done
}

# QEMU's emulation can make a JVM die in compiled code; see "JVM crashes under emulation" in docs/rdma.md. A command
# that died of it is run once more. If only a child died, its name is printed: a repetition can hide crashes with other
# causes, and the command may have handled this one.
judge_crash() {
  local name cause
  [ "$accelerator" = tcg ] && [ -z "$signal" ] && [ "$result" -ne 0 ] || return 0
  if name=$(crash_of "$result"); then
    cause="the command died of $name, which QEMU's emulation can cause"
    if [ "$no_repeat" ]; then
      say "$cause; see docs/rdma.md"
    elif ! input_is_unread; then
      say "$cause; it is not repeated because its standard input may have been read (it is repeated with </dev/null)"
    else
      say "$cause: it is repeated, once, in a new virtual machine (not with --no-repeat)"
      forget_run
      run_machines
      ! name=$(crash_of "$result") || say "the command died of $name when it was repeated; see docs/rdma.md"
    fi
  elif [ ${#crashed[@]} -gt 0 ]; then
    printf -v name '%s, ' "${crashed[@]}"
    say "a process died in the virtual machine, which QEMU's emulation can cause; see docs/rdma.md: ${name%, }"
  fi
}

# Prints the signal of an exit code, if a crash raises it and a process has died of one: a command can also exit with
# such a code. A JVM that gets SIGSEGV dies of SIGABRT.
crash_of() {
  [ ${#crashed[@]} -gt 0 ] || return 1
  case $1 in
    134) echo SIGABRT ;;
    139) echo SIGSEGV ;;
    *) return 1 ;;
  esac
}

# Returns whether a second run has the same standard input: /dev/null, which replaces a closed one, or a terminal.
input_is_unread() {
  [ -t 0 ] || { [ -c /dev/stdin ] && [ "$(stat -c %t:%T -)" = 1:3 ]; }
}

# Prepares another run of the stopped machines. A signal received meanwhile ends that run.
forget_run() {
  local file
  for file in "$events" "${control[@]}" ${monitor[@]+"${monitor[@]}"} ${answers_of[@]+"${answers_of[@]}"}; do
    exec {file}>&-
  done
  find "$run" -mindepth 1 -delete
  qemu=() control=() control_relay=() in_relay=() out_relay=() err_relay=() booted=() ended=() drained=() killed=()
  crashed=()
  kill_at='' over='' result=''
}

# Writes the job of machine $1, which guest.sh reads.
write_job() {
  local job=$run/job$1
  mkdir "$job" "$job/bin"
  cp "$vm_parts/guest.sh" "$job"
  cp "$vm_parts/crashed.sh" "$job"
  printf '%s\0' "${command[@]}" >"$job/command"
  # The last value of a name counts.
  printf '%s\0' "${environment[@]}" | grep -zvE "$LEFT_OUT" >"$job/environment"
  : >"$job/keep"
  [ ${#keep[@]} -eq 0 ] || printf '%s\0' "${keep[@]}" >"$job/keep"
  : >"$job/shared"
  [ ${#shared[@]} -eq 0 ] || printf '%s\0' "${shared[@]}" >"$job/shared"
  printf '%s=%q\n' host "$1" name "$(uname -n)" directory "$PWD" mark "$mark" mask "$(umask)" >"$job/settings"
  write_device "$1"
}

# Starts QEMU and the relays of the streams. All of them are killed with this process, and none receives the signals of
# a terminal to the process group: those are for the command.
start_machine() {
  local machine=$1 fifo input=0 output=1
  mkfifo "$run/in$machine" "$run/out$machine" "$run/err$machine" "$run/control$machine.in" "$run/control$machine.out"
  exec {fifo}<>"$run/control$machine.in"
  control[machine]=$fifo
  # Only host 1 has the standard input, and only its output goes to standard output.
  [ "$machine" = 1 ] || { exec {input}</dev/null; output=2; }
  machine_arguments "$machine"
  relay_control "$machine" &
  control_relay[machine]=$!
  helper cat <&"$input" >"$run/in$machine" &
  in_relay[machine]=$!
  relay "$machine" out >&"$output" &
  out_relay[machine]=$!
  relay "$machine" err >&2 &
  err_relay[machine]=$!
  (
    cd "$run" || exit
    helper setsid "$emulator" "${arguments[@]}" <"in$machine" >/dev/null 2>"qemu$machine.log"
  ) &
  qemu[machine]=$!
}

# Executes a program that ignores signals from a terminal, and is killed when this process ends.
helper() {
  trap '' INT TERM HUP TTIN
  exec setpriv --pdeathsig KILL "$@"
}

relay() {
  helper perl "$vm_parts/relay.pl" "$mark" "$run/events" "$1 closed $2" "$1 drained $2" <"$run/$2$1" 2>/dev/null
}

# Forwards the lines of machine $1's control port to the events. QEMU may write a line in pieces, which would be mixed
# with other lines there.
relay_control() {
  # Also open for writing: opening it does not wait for QEMU, which may fail to start.
  helper perl "$vm_parts/lines.pl" <>"$run/control$1.out" >&"$events" 2>/dev/null
}

# Sets arguments, QEMU's for machine $1.
machine_arguments() {
  local machine=$1 folder number=0
  arguments=(-nodefaults -no-user-config -display none -no-reboot -m $((memory / ${#machines[@]})) -smp "$cpus")
  processor_arguments
  arguments+=(-kernel "$kernel" -initrd "$initramfs" -serial "file:console$machine.log" -append "$(kernel_arguments)")
  # QEMU's own standard input is the only character device that signals the end of a file.
  arguments+=(-device virtio-rng-pci -device "virtio-serial-pci,id=ports"
    -chardev "stdio,id=in,signal=off" -device "virtserialport,bus=ports.0,chardev=in,name=in"
    -chardev "file,id=out,path=out$machine" -device "virtserialport,bus=ports.0,chardev=out,name=out"
    -chardev "file,id=err,path=err$machine" -device "virtserialport,bus=ports.0,chardev=err,name=err"
    -chardev "pipe,id=control,path=control$machine" -device "virtserialport,bus=ports.0,chardev=control,name=control")
  arguments+=(-fsdev "local,id=host,path=${files//,/,,},security_model=none,readonly=on,multidevs=remap"
    -device "virtio-9p-pci,fsdev=host,mount_tag=host"
    -fsdev "local,id=job,path=job$machine,security_model=none,readonly=on"
    -device "virtio-9p-pci,fsdev=job,mount_tag=job")
  [ ${#shared[@]} -eq 0 ] \
    || arguments+=(-fsdev "local,id=shared,path=/,security_model=none,readonly=on,multidevs=remap"
      -device "virtio-9p-pci,fsdev=shared,mount_tag=shared")
  for folder in ${keep[@]+"${keep[@]}"}; do
    arguments+=(-fsdev "local,id=keep$number,path=${folder//,/,,},security_model=none,multidevs=remap"
      -device "virtio-9p-pci,fsdev=keep$number,mount_tag=keep$number")
    number=$((number + 1))
  done
  [ -z "$two" ] || wire_arguments "$machine"
}

# An error in the kernel ends the machine at once, since its state cannot be trusted; emulation is so slow that the
# watchdogs would report false positives.
kernel_arguments() {
  echo "console=$console quiet panic=-1 oops=panic mitigations=off nowatchdog rcupdate.rcu_cpu_stall_suppress=1" \
    "random.trust_cpu=on tsc=reliable cryptomgr.notests"
}

# Handles the machines' events until the run is over.
attend() {
  local line
  while [ -z "$over" ]; do
    # A signal may interrupt it between two lines.
    if ! IFS= read -r -u "$events" line || [ "$line" = tick ]; then
      look_for_dead
    else
      handle "$line"
    fi
    look_at_clock
  done
}

# Handles the event line $1. An unknown one ends the run, which could otherwise wait for the lost event for ever.
handle() {
  local machine=${1%% *} word rest=${1#* }
  if ! [[ $1 =~ $EVENT ]] || [[ " ${machines[*]} " != *" $machine "* ]]; then
    say "the virtual machine failed: unknown event $(printf %q "$1")"
    result=125
    over=yes
    return
  fi
  word=${rest%% *}
  rest=${rest#"$word"}
  rest=${rest# }
  case $word in
    started)
      booted[machine]=$SECONDS
      explain "machine $machine has booted after $((SECONDS - started_at)) s"
      ;;
    failed) give_up "$machine" "$rest" ;;
    closed) echo "closed $rest" >&"${control[$machine]}" ;;
    crashed) crashed+=("$rest") ;;
    wire) answer_wire "$machine" "${rest% *}" "${rest#* }" ;;
    drained)
      drained[machine]=$((${drained[machine]:-0} + 1))
      [ "$machine" != 1 ] || look_whether_over
      ;;
    ended)
      ended[machine]=$rest
      # When the run is over, host 2's command is stopped.
      [ "$machine" = 1 ] || [ "$rest" = 0 ] || [ "$over" ] || say "host 2's command ended with $rest"
      [ "$machine" != 1 ] || look_whether_over
      ;;
  esac
}

# The run is over when the first machine's command has ended and all its output has arrived.
look_whether_over() {
  [ "${ended[1]:-}" ] && [ "${drained[1]:-0}" -ge 2 ] || return 0
  result=${result:-${ended[1]}}
  over=yes
}

# Detects a machine that has ended unexpectedly: the kernel's panic ends QEMU, too.
look_for_dead() {
  local machine code=0 what="the virtual machine ended unexpectedly"
  for machine in "${machines[@]}"; do
    if [ -z "${killed[$machine]:-}" ] && ! kill -0 "${qemu[$machine]}" 2>/dev/null; then
      wait "${qemu[$machine]}" 2>/dev/null || code=$?
      [ "$code" != 137 ] || what="QEMU was killed, possibly because this machine ran out of memory; see --memory"
      give_up "$machine" "$what"
      return
    fi
  done
}

# Ends the run because of an error in machine $1, and prints the end of its console.
give_up() {
  local cause
  cause=$(grep -soE '(Kernel panic|BUG:|Oops:|ferrule:).*' "$run/console$1.log" | tail -n 1 | tr -d '\r') || true
  say "$2${two:+ (host $1)}${cause:+: $cause}; the end of its console:"
  { cat "$run/qemu$1.log" "$run/console$1.log" 2>/dev/null || true; } | tr -d '\r' | tail -n 15 | sed 's/^/  /' >&2
  result=125
  over=yes
}

# Reports whether the kernel of machine $1 has killed processes because of a lack of memory. An exit code does not show
# that: 137 has other causes, too, and the killed process need not be the command itself.
explain_starved() {
  local victims
  victims=$(sed -n 's/.*Out of memory: Killed process [0-9]* (\(.*\)) total-vm.*/\1/p' "$run/console$1.log" \
    2>/dev/null | sort -u) || true
  [ "$victims" ] || return 0
  say "the virtual machine${two:+ of host $1} ran out of memory, and its kernel killed ${victims//$'\n'/, }. Give" \
    "${two:+both }more than $memory MiB with --memory, or write less: files outside the folders of --keep are in memory."
}

# Handles signals and time limits.
look_at_clock() {
  local machine
  if [ "$signal" ]; then
    # A second signal kills at once.
    if [ "$kill_at" ]; then kill_at=$SECONDS; fi
    result=$((128 + $(kill -l "$signal")))
    interrupt "$signal"
    signal=
  elif [ "$SECONDS" -ge "$deadline" ] && [ -z "$kill_at" ]; then
    say "time limit of $time_limit s exceeded"
    result=124
    interrupt TERM
  fi
  if [ "$kill_at" ] && [ "$SECONDS" -ge "$kill_at" ]; then over=yes; fi
  if [ -z "$waiting" ] && [ "$SECONDS" -ge $((started_at + SAID_AFTER)) ]; then
    waiting=yes
    [ "${booted[1]:-}" ] || say "booting a virtual machine; this takes 10 to 60 s, and longer on a busy machine"
  fi
  [ "$SECONDS" -ge "$boot_deadline" ] && [ -z "$over" ] || return 0
  for machine in "${machines[@]}"; do
    [ "${booted[$machine]:-}" ] || give_up "$machine" "the virtual machine has not booted in $BOOT_LIMIT s"
  done
}

# Requests that the commands exit.
interrupt() {
  local machine
  kill_at=${kill_at:-$((SECONDS + GRACE))}
  for machine in "${machines[@]}"; do
    if [ "${booted[$machine]:-}" ]; then
      echo "signal $1" >&"${control[$machine]}"
    elif [ "$machine" = 1 ]; then
      kill_at=$SECONDS
    fi
  done
}

# Lets the second machine's command exit, as it may still write, to a kept folder for example.
end_second() {
  local line limit=$((SECONDS + GRACE / 2))
  [ "${booted[2]:-}" ] && [ -z "${killed[2]:-}${kill_at:-}" ] && [ "$result" != 125 ] || return 0
  echo "signal TERM" >&"${control[2]}"
  while [ "${drained[2]:-0}" -lt 2 ] && [ "$SECONDS" -lt "$limit" ] && [ -z "$signal" ] && [ "$result" != 125 ]; do
    ! IFS= read -r -u "$events" line || [ "$line" = tick ] || handle "$line"
    kill -0 "${qemu[2]}" 2>/dev/null || return 0
  done
}

# Stops all processes. Earlier output of the machines is still forwarded, but not after a signal. Standard error is
# discarded, since the shell may report killed processes there.
stop_machines() {
  local machine pid
  kill -KILL "$clock" "${qemu[@]}" "${control_relay[@]}" "${in_relay[@]}" || true
  for machine in "${machines[@]}"; do
    # A relay whose FIFO was not opened by a machine would wait for ever.
    [ "${booted[$machine]:-}" ] && [ -z "$kill_at" ] \
      || kill -KILL "${out_relay[$machine]}" "${err_relay[$machine]}" || true
  done
  for pid in "$clock" "${qemu[@]}" "${out_relay[@]}" "${err_relay[@]}" "${control_relay[@]}" "${in_relay[@]}"; do
    # At least once, as a process that is waited for is not reported.
    while wait "$pid" || true; kill -0 "$pid"; do
      [ -z "$signal" ] || kill -KILL "${out_relay[@]}" "${err_relay[@]}" || true
    done
  done
} 2>/dev/null
