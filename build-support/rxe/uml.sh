#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command in User-Mode Linux (UML), a kernel that runs as a process, with the software device. Tests take a
# fraction of the time that they take in the emulated machine of with-rxe, as only system calls and page faults are
# emulated. UML has one processor and no huge pages, and needs neither KVM nor root. See "User-Mode Linux" in
# docs/rdma.md.
#
#   uml.sh prepare
#       fetches and builds the kernel, unless it is cached, and boots it once
#   uml.sh run FOLDER SECONDS COMMAND [ARG…]
#       runs COMMAND in the caller's environment and folder, as root, on the host's files (not those in /run and
#       /dev/shm); changes to them are lost, except those in FOLDER, which is /run/rxe/job there. Prints COMMAND's
#       output when it has ended. Exits with its code, with 124 after SECONDS, or with 125 if UML fails.
#   uml.sh run-two FOLDER SECONDS COMMAND [ARG…]
#       runs COMMAND in two machines with a wire between them, as with-rxe --two does, until it has ended in the first;
#       the second one's folder is FOLDER/host2, and its output goes to standard error
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
parts=$root/build-support/rxe
PATH=$PATH:/usr/sbin:/sbin
with_tools=''
# shellcheck source=build-support/vm/run-folder.sh
. "$root/build-support/vm/run-folder.sh"
# shellcheck source=build-support/vm/packages.sh
. "$root/build-support/vm/packages.sh"
# shellcheck source=build-support/rxe/packages.sh
. "$parts/packages.sh"

MEMORY=3072  # MiB; a sparse file
LITTLE_MEMORY=2048  # MiB of this machine; less may not suffice for two machines with a few JVMs each
host=1 wire=''
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ferrule/rxe
# The name contains a hash of the options: other options need another kernel.
kernel=$cache/uml-$(sha256sum <"$parts/uml.options" | cut -c 1-16)/linux

say() { echo "uml: $*" >&2; }

prepare() {
  [ "$(uname -m)" = x86_64 ] || { say "only x86-64 is supported"; exit 1; }
  [ "$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)" -ge "$LITTLE_MEMORY" ] \
    || { say "less than $LITTLE_MEMORY MiB of memory is available"; exit 1; }
  mkdir -p "$cache"
  make_run_folder
  ensure_packages missing_for_uml || exit 1
  {
    flock -n 9 || { say "waiting for another run, which builds the kernel"; flock 9; }
    [ -x "$kernel" ] || build_kernel
  } 9>"$cache/uml.lock"
  mkdir "$run/probe"
  (run_in_uml "$run/probe" 300 true) || { say "UML does not work here"; exit 1; }
}

missing_for_uml() {
  local program
  missing_for_rdma
  [ ! -x "$kernel" ] || return 0
  for program in flex bison bc make gcc perl; do
    command -v "$program" >/dev/null || echo "$program"
  done
  command -v xz >/dev/null || echo xz-utils
  compgen -G '/usr/include/*/sys/types.h' >/dev/null || echo libc6-dev
}

# Builds the kernel from the distribution's newest sources.
build_kernel() {
  local package started=$SECONDS
  command -v apt-get >/dev/null || { say "fetching a kernel's sources needs apt-get"; exit 1; }
  package=$(sources_package)
  if [ -z "$package" ] && [ "$(id -u)" -eq 0 ]; then
    quiet_apt 300 update || true
    package=$(sources_package)
  fi
  [ "$package" ] || { say "no package of a kernel's sources found; try: sudo apt-get update"; exit 1; }
  say "building a kernel, once, of $package; this takes 5 to 15 minutes"
  (compile_kernel "$package") >"$run/log" 2>&1 </dev/null \
    || { tail -n 5 "$run/log" >&2; say "cannot build the kernel"; exit 1; }
  say "the kernel took $((SECONDS - started)) s; it is kept in ${kernel%/*}"
}

sources_package() {
  apt-cache pkgnames linux-source- 2>/dev/null | grep -xE 'linux-source-[0-9.]+' | sort -V | tail -n 1 || true
}

# Puts the kernel into the cache if each step succeeds. The files that are left out would need a gigabyte. The option HZ
# has no prompt, so its default is changed: spinning threads take turns at each tick.
compile_kernel() {
  export ARCH=um
  # merge_config.sh takes no path with a space
  cp "$parts/uml.options" "$run/options" \
    && cd "$run" \
    && { download "$1" || { [ "$(id -u)" -eq 0 ] && quiet_apt 300 update && download "$1"; }; } \
    && dpkg-deb -x "$1"_*.deb . \
    && mkdir tree \
    && tar -xf usr/src/linux-source-*.tar.* -C tree --strip-components 1 --wildcards \
      --exclude='*/drivers/gpu/*.[ch]' --exclude='*/drivers/net/wireless/*.[ch]' --exclude='*/sound/*.[ch]' \
      --exclude='*/Documentation/*.rst' --exclude='*/tools/testing' \
    && cd tree \
    && sed -i '/^config HZ$/,/default/s/default .*/default 1000/' arch/um/Kconfig \
    && make tinyconfig \
    && scripts/kconfig/merge_config.sh -m .config ../options \
    && make olddefconfig \
    && [ "$(grep -cxE 'CONFIG_(RDMA_RXE=y|UML_NET_VECTOR=y|HZ=1000)' .config)" = 3 ] \
    && make -j"$(nproc)" linux \
    && mkdir -p "${kernel%/*}" \
    && install -s linux "$kernel.new" \
    && mv "$kernel.new" "$kernel" # so that a file that exists is complete
}

# As root, apt-get would download as an unprivileged user, without write permission here.
download() {
  quiet_apt 900 download -o APT::Sandbox::User=root "$1"
}

# Runs a command in the machine $host, whose wire is the descriptor $wire if there are two.
run_in_uml() {
  local limit=$2 code=0 options started=$SECONDS
  job=$(cd "$1" && pwd) || exit 125
  shift 2
  trap 'rm -rf -- "$job/command.sh" "$job/uml"' EXIT
  rm -f -- "$job"/{code,question,answer}
  : >"$job/out"
  (
    umask 077 # the environment may have secrets
    {
      export -p
      printf 'export FERRULE_RXE_DEVICE=rxe0 FERRULE_RXE_ADDRESS=10.77.0.%s FERRULE_RXE_VM=uml\n' "$host"
      [ -z "$wire" ] || printf 'export FERRULE_RXE_HOST=%s FERRULE_RXE_PEER=10.77.0.%s PATH=%q\n' "$host" \
        "$((3 - host))" "$PATH:$parts"
      printf 'cd %q || exit 125\n' "$PWD"
      printf '%q ' "$@"
      echo
    } >"$job/command.sh"
  )
  # The folder is the current one of this process: in an option, its name would need quotes.
  options=(mem=${MEMORY}M uml_dir=uml/ umid=ferrule rootfstype=hostfs rootflags=/ ro "init=\"$parts/uml-init\"" con=null
    con0=null,fd:1 quiet panic=-1 noreboot "ferrule_host=$host")
  [ -z "$wire" ] || options+=("vec0:transport=fd,fd=$wire" ferrule_wire=yes)
  # Killed with this process.
  (
    unset TMP TEMP
    TMPDIR=$(memory_folder "$job")
    export TMPDIR
    cd "$job"
    exec setpriv --pdeathsig KILL timeout --foreground --kill-after=10 "$limit" \
      setpriv --pdeathsig KILL "$kernel" "${options[@]}" </dev/null >console 2>&1
  ) || code=$?
  cat "$job/out"
  if [ -s "$job/code" ]; then
    if [ "$code" -ge 128 ] || grep -qE 'ut of memory|BUG:|WARNING:|Oops' "$job/console"; then
      show_console "UML ended with $code; its kernel said"
    fi
    exit "$(<"$job/code")"
  fi
  if [ $((SECONDS - started)) -ge "$limit" ]; then
    say "time limit of $limit s exceeded"
    exit 124
  fi
  show_console "UML ended with $code; the end of its console"
  exit 125
}

show_console() {
  say "$1:"
  tail -n 15 "$job/console" | sed 's/^/  /' >&2
  ! grep -q 'max_map_count' "$job/console" || say "a larger vm.max_map_count of this machine prevents that (sysctl)"
}

# Prints the folder for a machine's memory: /dev/shm if that has room for two machines and permits execution, otherwise
# $1.
memory_folder() {
  local free
  free=$(df -m --output=avail /dev/shm 2>/dev/null | tail -n 1) || free=0
  if [ "$free" -ge $((2 * MEMORY)) ] && ! findmnt -no OPTIONS -T /dev/shm | grep -qw noexec; then
    echo /dev/shm
  else
    echo "$1"
  fi
}

# Runs a command in two machines. Does what a killed machine has not done: prints its output, and removes files that
# must not remain.
run_two() {
  local code=0
  first=$1 second=$1/host2
  trap 'rm -rf -- {"$first","$second"}/{command.sh,uml}' EXIT
  mkdir -p "$second"
  setpriv --pdeathsig TERM perl "$parts/uml-wire.pl" "$parts/uml.sh" "$first" "$second" "${@:2}" || code=$?
  [ ! -e "$first/command.sh" ] || cat "$first/out"
  [ ! -e "$second/command.sh" ] || cat "$second/out" >&2
  exit "$code"
}

command=${1:-}
case $command in
  run | run-two) [ $# -ge 4 ] || { say "usage: uml.sh $command FOLDER SECONDS COMMAND [ARG…]"; exit 2; } ;;
esac
case $command in
  prepare) prepare ;;
  run) run_in_uml "${@:2}" ;;
  run-two) run_two "${@:2}" ;;
  machine) # called by uml-wire.pl
    host=$2 wire=$3
    run_in_uml "${@:4}"
    ;;
  *) say "unknown command $command"; exit 2 ;;
esac
exit
