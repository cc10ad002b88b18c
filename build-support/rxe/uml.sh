#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command in User-Mode Linux (UML), a kernel that runs as a process, with the software device: tests take a
# fraction of their time in the emulated machine of with-rxe, as only system calls and page faults are emulated. There
# are one processor, no huge pages, and no KVM or root needed. See "User-Mode Linux" in docs/rdma.md.
#
#   uml.sh prepare
#       fetches and builds the kernel, unless it is cached, and boots it once
#   uml.sh run FOLDER SECONDS COMMAND [ARG…]
#       runs COMMAND in the caller's environment and folder, as root, on the host's files; changes to them are lost, except
#       those in FOLDER, which is /run/rxe/job there. Prints COMMAND's output when it has ended. Exits with its code, with
#       124 after so many seconds, or with 125 if UML fails.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
parts=$root/build-support/rxe
PATH=$PATH:/usr/sbin:/sbin
with_tools=''
# shellcheck source=build-support/rxe/packages.sh
. "$parts/packages.sh"

MEMORY=3072  # MiB; a sparse file in /dev/shm
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ferrule/rxe
# Another kernel if its options change.
kernel=$cache/uml-$(sha256sum <"$parts/uml.options" | cut -c 1-16)/linux

say() { echo "uml: $*" >&2; }

prepare() {
  [ "$(uname -m)" = x86_64 ] || { say "only x86-64 is supported"; exit 1; }
  mkdir -p "$cache"
  run=$(mktemp -d "${TMPDIR:-/tmp}/ferrule-uml.XXXXXX")
  trap 'rm -rf -- "$run"' EXIT
  ensure_packages missing_for_uml || exit 1
  (
    flock 9
    [ -x "$kernel" ] || build_kernel
  ) 9>"$cache/uml.lock"
  mkdir "$run/probe"
  "${BASH_SOURCE[0]}" run "$run/probe" 60 true || { say "UML does not work here"; exit 1; }
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
  (
    cd "$run"
    # As root, apt-get would download as an unprivileged user, without write permission here.
    quiet_apt 900 download -o APT::Sandbox::User=root "$package" \
      || { [ "$(id -u)" -eq 0 ] && quiet_apt 300 update && quiet_apt 900 download -o APT::Sandbox::User=root "$package"; }
    dpkg-deb -x "$package"_*.deb .
    mkdir tree
    # Other files of drivers and of sound would need a gigabyte.
    tar -xf usr/src/linux-source-*.tar.* -C tree --strip-components 1 --wildcards \
      --exclude='*/drivers/gpu/*.[ch]' --exclude='*/drivers/net/wireless/*.[ch]' --exclude='*/sound/*.[ch]' \
      --exclude='*/Documentation/*.rst' --exclude='*/tools/testing'
    cd tree
    export ARCH=um
    make tinyconfig
    scripts/kconfig/merge_config.sh -m .config "$parts/uml.options"
    make olddefconfig
    make -j"$(nproc)" linux
    mkdir -p "${kernel%/*}"
    # by a rename, so that a file that exists is complete
    install -s linux "$kernel.new"
    mv "$kernel.new" "$kernel"
  ) >"$run/log" 2>&1 </dev/null || { tail -n 5 "$run/log" >&2; say "cannot build the kernel"; exit 1; }
  say "the kernel took $((SECONDS - started)) s; it is kept in $cache"
}

sources_package() {
  apt-cache pkgnames linux-source- 2>/dev/null | grep -xE 'linux-source-[0-9.]+' | sort -V | tail -n 1
}

run_in_uml() {
  local job=$1 limit=$2 code=0 options free
  shift 2
  {
    export -p
    printf 'export FERRULE_RXE_DEVICE=rxe0 FERRULE_RXE_ADDRESS=10.77.0.1 FERRULE_RXE_VM=uml\n'
    printf 'cd %q || exit 125\n' "$PWD"
    printf '%q ' "$@"
    echo
  } >"$job/command.sh"
  rm -f "$job/code"
  : >"$job/out"
  # Its memory is a file, which needs room.
  free=$(df -m --output=avail /dev/shm 2>/dev/null | tail -n 1)
  [ "${free:-0}" -ge "$MEMORY" ] || export TMPDIR=$job
  # The folder is the current one of this process: in an option, its name would need quotes.
  options=(mem=${MEMORY}M uml_dir=uml/ umid=ferrule rootfstype=hostfs rootflags=/ ro "init=\"$parts/uml-init\"" con=null
    con0=null,fd:1 quiet panic=-1 noreboot)
  # Killed with this process.
  (
    cd "$job"
    exec setpriv --pdeathsig KILL timeout --foreground --kill-after=10 "$limit" \
      setpriv --pdeathsig KILL "$kernel" "${options[@]}" </dev/null >console 2>&1
  ) || code=$?
  cat "$job/out"
  if [ -s "$job/code" ]; then exit "$(<"$job/code")"; fi
  if [ "$code" = 124 ] || [ "$code" = 137 ]; then
    say "time limit of $limit s exceeded"
    exit 124
  fi
  say "UML ended with $code; the end of its console:"
  tail -n 15 "$job/console" | sed 's/^/  /' >&2
  exit 125
}

case ${1:-} in
  prepare) prepare ;;
  run) shift; run_in_uml "$@" ;;
  *) say "unknown command ${1:-}"; exit 2 ;;
esac
exit
