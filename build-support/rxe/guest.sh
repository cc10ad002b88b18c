# SPDX-License-Identifier: Apache-2.0
# The second program of the virtual machine, on the host's files: makes the RDMA device, runs the command that the host
# has put into the folder "job", and tells the host how it ended. It does what the host asks for meanwhile.
# shellcheck shell=bash
set -uo pipefail
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
job=/run/rxe/job
# shellcheck source=/dev/null
. "$job/settings"
host=${host:?} name=${name:?} address=${address:?} directory=${directory:?} mark=${mark:?} mask=${mask:?}

# The file of the port that QEMU calls $1; only udev would make links by name.
port() {
  local name
  for name in /sys/class/virtio-ports/*/name; do
    if [ "$(<"$name")" = "$1" ]; then
      name=${name%/name}
      echo "/dev/${name##*/}"
      return
    fi
  done
}

# The number says which host talks, for both talk into one FIFO. One write a line, so that lines stay whole.
tell() {
  echo "$host $*" >&3
}

fail() {
  tell "failed $*"
  sleep 10
  exit 1
}

make_device() {
  local netdev=eth0
  ip link set lo up
  if [ -z "${peer:-}" ]; then
    # Two ends, although one is used: a lone interface has no carrier, and the device would be down.
    netdev=v0
    ip link add v0 type veth peer name v1 && ip link set v1 up || return
  fi
  ip link set "$netdev" up && ip address add "$address/24" dev "$netdev" && rdma link add rxe0 type rxe netdev "$netdev"
}

# The folders whose writes survive; the host has numbered their shares in this order.
mount_kept() {
  local number=0 folder
  while IFS= read -r -d '' folder; do
    mkdir -p "$folder" \
      && mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,cache=mmap" "keep$number" "$folder" || return
    number=$((number + 1))
  done <"$job/keep"
}

# The command, in a process group of its own, so that a signal reaches all of it. It has pipes, for a port can be open
# only once and /dev/stderr opens it anew.
start_command() {
  local words environment
  mapfile -d '' -t environment <"$job/environment"
  mapfile -d '' -t words <"$job/command"
  mkfifo /run/rxe/in /run/rxe/out /run/rxe/err
  cat <"$(port in)" >/run/rxe/in 2>/dev/null 3>&- &
  cat </run/rxe/out >&6 3>&- &
  out=$!
  cat </run/rxe/err >&7 3>&- &
  err=$!
  # Without job control, a shell lets what it starts in the background ignore SIGINT.
  set -m
  env -i "${environment[@]}" "${words[@]}" </run/rxe/in >/run/rxe/out 2>/run/rxe/err 3>&- 4>&- 5>&- 6>&- 7>&- &
  command=$!
  set +m
}

# What the host asks for, as long as the machine runs.
obey() {
  local word rest
  while read -r word rest; do
    case $word in
      signal) kill "-$rest" -- "-$command" ;;
      # Nobody reads there any longer: the command shall notice as it would with a pipe.
      closed) if [ "$rest" = out ]; then kill "$out"; else kill "$err"; fi ;;
      answer) echo "$rest" >/run/rxe/answer ;;
    esac
  done <&3 2>/dev/null
}

# Passes on what rxe-wire asks for; see there.
pass_questions() {
  local question
  while read -r question; do tell "wire $question"; done <&4
}

# Has the kernel call crashed.sh for each process that dies of a signal with a core dump.
watch_crashes() {
  : >/run/rxe/crashed
  echo "|/bin/bash $job/crashed.sh %P %s" >/proc/sys/kernel/core_pattern
}

# The host cannot see it in the exit code if it was not the command itself.
report_crashes() {
  local line
  sort -u /run/rxe/crashed | while read -r line; do tell "crashed $line"; done
}

# Waits until the processes have passed on all that was written. They do not end by themselves if something in the
# background still has the other end of their pipe; then half a second of silence has to do.
drain() {
  local idle=0 pid
  while [ "$idle" -lt 5 ] && kill -0 "$@"; do
    idle=$((idle + 1))
    for pid in "$@"; do
      [ ! -e "/proc/$pid/wchan" ] || case $(<"/proc/$pid/wchan") in *pipe*) ;; *) idle=0 ;; esac
    done
    sleep 0.1
  done
  kill "$@"
} 2>/dev/null

exec 3<>"$(port control)" 6>"$(port out)" 7>"$(port err)"
ulimit -l unlimited
hostname "$name"
make_device || fail "cannot make the device rxe0"
mount_kept || fail "cannot mount the folders to keep"
cd "$directory" || fail "there is no folder $directory in the virtual machine"
mkfifo /run/rxe/question /run/rxe/answer
exec 4<>/run/rxe/question 5<>/run/rxe/answer
umask "$mask"
pass_questions &
watch_crashes
start_command
obey &
tell started

wait "$command"
code=$?
drain "$out" "$err"
sync
report_crashes
tell "ended $code"
# What was written to a port may not be through yet; the host waits for this. See relay.pl.
printf '\0%s\0' "$mark" >&6
printf '\0%s\0' "$mark" >&7
# The other host may still want to reach this one; and if this process ended, the kernel would panic.
while true; do sleep 3600; done
