# SPDX-License-Identifier: Apache-2.0
# The second program of the virtual machine, on its root file system: creates the RDMA device, runs the command from the
# folder "job", executes the host's requests meanwhile, and reports the result to the host.
# shellcheck shell=bash
set -uo pipefail
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
job=/run/rxe/job
# shellcheck source=/dev/null
. "$job/settings"
host=${host:?} name=${name:?} address=${address:?} directory=${directory:?} mark=${mark:?} mask=${mask:?}

# Prints the file of the port named $1 by QEMU; only udev would create links by name.
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

# Prefixes the host's number, as the lines of both hosts arrive in one FIFO. Each line is one write, since several
# processes here write to the port.
report() {
  echo "$host $*" >&3
}

fail() {
  report "failed $*"
  sleep 10
  exit 1
}

make_device() {
  local netdev=eth0
  ip link set lo up
  if [ -z "${peer:-}" ]; then
    # Two ends, although only one is used: a lone interface has no carrier, and the device would be down.
    netdev=v0
    ip link add v0 type veth peer name v1 && ip link set v1 up || return
  fi
  ip link set "$netdev" up && ip address add "$address/24" dev "$netdev" && rdma link add rxe0 type rxe netdev "$netdev"
}

# Mounts the host's folders that the root file system lacks, with layers of memory for writes above them.
mount_shared() {
  local number=0 folder layer=/run/rxe/layer
  [ -s "$job/shared" ] || return 0
  mkdir -p /run/rxe/host "$layer" && mount -t tmpfs tmpfs "$layer" \
    && mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,ro,cache=loose" shared /run/rxe/host || return
  while IFS= read -r -d '' folder; do
    mkdir -p "$folder" "$layer/$number/files" "$layer/$number/work" \
      && ln -s "/run/rxe/host$folder" "$layer/$number/host" \
      && mount -t overlay -o "lowerdir=$layer/$number/host,upperdir=$layer/$number/files,workdir=$layer/$number/work" \
        overlay "$folder" || return
    number=$((number + 1))
  done <"$job/shared"
}

# Mounts the folders whose changes are kept; the host has numbered their shares in this order.
mount_kept() {
  local number=0 folder
  while IFS= read -r -d '' folder; do
    mkdir -p "$folder" \
      && mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,cache=mmap" "keep$number" "$folder" || return
    number=$((number + 1))
  done <"$job/keep"
}

# Starts the command in a process group of its own, so that a signal reaches all of it. It gets pipes, since a port can
# be opened only once and /dev/stderr opens it again.
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
  # Without job control, a shell makes background processes ignore SIGINT.
  set -m
  env -i "${environment[@]}" "${words[@]}" </run/rxe/in >/run/rxe/out 2>/run/rxe/err 3>&- 4>&- 5>&- 6>&- 7>&- &
  command=$!
  set +m
}

# Executes the host's requests while the machine runs.
execute_requests() {
  local word rest
  while read -r word rest; do
    case $word in
      signal) kill "-$rest" -- "-$command" ;;
      # The host's reader has closed its end: the command must notice that as with a pipe.
      closed) if [ "$rest" = out ]; then kill "$out"; else kill "$err"; fi ;;
      answer) echo "$rest" >/run/rxe/answer ;;
    esac
  done <&3 2>/dev/null
}

# Forwards the requests of rxe-wire; see there.
pass_questions() {
  local question
  while read -r question; do report "wire $question"; done <&4
}

# Lets the kernel call crashed.sh for each process that dies of a signal with a core dump.
watch_crashes() {
  : >/run/rxe/crashed
  echo "|/bin/bash $job/crashed.sh %P %s" >/proc/sys/kernel/core_pattern
}

# Reports the crashed processes: the exit code does not show them unless the command itself crashed.
report_crashes() {
  local line
  sort -u /run/rxe/crashed | while read -r line; do report "crashed $line"; done
}

# Waits until the processes have forwarded all output. They do not end if a background process still has the other end
# of their pipe; then half a second without output is enough.
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
hostname "$name${peer:+-$host}"
make_device || fail "cannot make the device rxe0"
mount_shared || fail "cannot mount the folders of the host"
mount_kept || fail "cannot mount the folders to keep"
cd "$directory" || fail "no folder $directory in the virtual machine"
mkfifo /run/rxe/question /run/rxe/answer
exec 4<>/run/rxe/question 5<>/run/rxe/answer
umask "$mask"
pass_questions &
watch_crashes
start_command
execute_requests &
report started

wait "$command"
code=$?
drain "$out" "$err"
sync
report_crashes
report "ended $code"
# Output written to a port may still be in transit; the host waits for this mark. See relay.pl.
printf '\0%s\0' "$mark" >&6
printf '\0%s\0' "$mark" >&7
# The other host may still connect to this one; and if this process ended, the kernel would panic.
while true; do sleep 3600; done
