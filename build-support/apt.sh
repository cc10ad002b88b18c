# SPDX-License-Identifier: Apache-2.0
# Sourced: apt-get where several runs, or other programs, may use it at the same time.
# shellcheck shell=bash

# Runs apt-get without questions: quiet_apt SECONDS ARGUMENTS…; prints its output only if it fails. Waits for the locks
# of other programs: for that of the installed packages by an option; for those of lists and downloads, for which
# apt-get has no option, by repeating.
quiet_apt() {
  local limit=$1 end=$((SECONDS + 300)) output
  shift
  while true; do
    output=$(LC_ALL=C DEBIAN_FRONTEND=noninteractive timeout --foreground "$limit" apt-get -qq -o DPkg::Lock::Timeout=300 "$@" \
      2>&1 </dev/null) && return 0
    case $output in *'Could not get lock'*) [ "$SECONDS" -ge "$end" ] || { sleep 2; continue; } ;; esac
    printf '%s\n' "$output" >&2
    return 1
  done
}
