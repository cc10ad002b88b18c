# SPDX-License-Identifier: Apache-2.0
# Sourced by ./with-rxe, ./with-arch and uml.sh: each run has a folder for its files.
# shellcheck shell=bash
# shellcheck disable=SC2034 # variables of these scripts

# Creates the folder $run, which is removed afterwards. Folders of killed runs, which no process locks, are removed, too.
make_run_folder() {
  local folder temporary=${TMPDIR:-/tmp}
  find "$temporary" -maxdepth 1 -name 'ferrule-rxe.*' -user "$(id -u)" -mmin +1 2>/dev/null | while read -r folder; do
    flock -n "$folder" rm -rf -- "$folder" || true
  done || true # others remove folders meanwhile
  run=$(mktemp -d "$temporary/ferrule-rxe.XXXXXX") || no_room "$temporary"
  trap 'rm -rf -- "$run"' EXIT
  { head -c 1048576 /dev/zero >"$run/room" && rm "$run/room"; } 2>/dev/null || no_room "$temporary"
  exec {run_lock}<"$run"
  flock "$run_lock"
}

no_room() {
  say "cannot write to $1, where each run has a folder: free some space, or set TMPDIR to another folder"
  exit 1
}
