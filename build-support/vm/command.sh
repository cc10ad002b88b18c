# SPDX-License-Identifier: Apache-2.0
# Sourced by ./with-rxe and ./with-arch, with build.sh: what a command in a virtual machine needs of this machine.
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of these scripts

# Creates the folders to keep, and replaces them by their real paths.
make_kept() {
  local i
  for i in "${!keep[@]}"; do
    mkdir -p -- "${keep[i]}" && keep[i]=$(cd -- "${keep[i]}" && pwd -P) || exit 1
  done
}

LITTLE_MEMORY=1536  # MiB; less may not suffice for two machines with a few JVMs each

# Sets memory, unless the caller has, to 4 GiB, or three quarters of this machine's free memory if that is less.
choose_memory() {
  local free
  if [ -z "$memory" ]; then
    free=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
    memory=$((free * 3 / 4 < 4096 ? free * 3 / 4 : 4096))
    [ "$memory" -ge "$LITTLE_MEMORY" ] \
      || say "little memory is free: the virtual machine has only $memory MiB; see --memory"
  fi
  explain "the memory is $memory MiB"
}

# Builds what the command needs, as ./ferrule, ./compare and ./benchmark do; in the virtual machine a build is slow, and
# cannot fetch anything.
build_command() {
  local program module
  program=$(command -v -- "${command[0]}") && program=$(readlink -f "$program") || return 0
  case $program in
    "$root/ferrule" | "$root/compare") module=lab ;;
    "$root/benchmark") module=benchmarks ;;
    *)
      # a shell that is to run one of them
      [ "$PWD" = "$root" ] || return 0
      case " ${command[*]}" in
        *./benchmark*) module=benchmarks ;;
        *./ferrule* | *./compare*) module=lab ;;
        *) return 0 ;;
      esac
      ;;
  esac
  ensure_built "${0##*/}" "$module" </dev/null || exit 1
}
