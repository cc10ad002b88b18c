#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the start-up of an unpacked tar of ./dist, with the archive of classes, without, and with JDK 25's AOT cache in
# its place: start-up.sh FOLDER [ROUNDS]. Prints the medians of interleaved rounds, in milliseconds.
set -euo pipefail
home=$(cd "$1" && pwd) rounds=${2:-10}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -a "$home/." "$scratch/home"
bin=$scratch/home/bin
# shellcheck disable=SC2016 # a variable of that script
option='"-XX:SharedArchiveFile=$home/lib/ferrule.jsa"'
replace() { sed "s|$option|$2|" "$bin/ferrule" >"$bin/$1"; chmod +x "$bin/$1"; }
# shellcheck disable=SC2016 # variables of that script
{ replace without -Xshare:off; replace train '-XX:AOTCacheOutput=$home/lib/aot'; replace aot '-XX:AOTCache=$home/lib/aot'; }
"$bin/train" doctor >/dev/null 2>&1 || true
[ -s "$scratch/home/lib/aot" ] || { echo "start-up: no AOT cache was written" >&2; exit 1; }

TIMEFORMAT='%R %U %S'
for ((round = 0; round < rounds; round++)); do
  for command in --version help doctor; do
    for variant in without ferrule aot; do
      { time env -i "$bin/$variant" "$command" >/dev/null 2>&1 || true; } 2>&1 \
        | awk '{ printf "%d %d\n", $1 * 1000, ($2 + $3) * 1000 }' >>"$scratch/$command.$variant"
    done
  done
done
median() { cut -d' ' -f"$2" "$1" | sort -n | sed -n "$((rounds / 2 + 1))p"; }
printf '%-12s %-10s %9s %14s\n' command variant 'wall ms' 'processor ms'
for command in --version help doctor; do
  for variant in without ferrule aot; do
    printf '%-12s %-10s %9s %14s\n' "$command" "$variant" "$(median "$scratch/$command.$variant" 1)" "$(median "$scratch/$command.$variant" 2)"
  done
done
