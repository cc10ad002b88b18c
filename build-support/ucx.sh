#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares messages and remote memory access of sm with UCX, with and without cross-memory attach, in interleaved
# rounds:
#   ./ferrule --version && build-support/ucx.sh [ROUNDS [BYTES]]
# Both sides always spin, on the first and on the last processor. Prints a line for each run, and then the medians and
# their ratios. For docs/performance.md. Installs nothing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
rounds=${1:-5}
size=${2:-1048576}
if ! command -v ucx_perftest >/dev/null; then
  echo "ucx.sh: ucx_perftest is missing; on Debian-like systems: apt-get install ucx-utils" >&2
  exit 1
fi
first=$(taskset -cp $$ | sed -E 's/.*: *([0-9]+).*/\1/')
last=$(taskset -cp $$ | sed -E 's/.*[^0-9]([0-9]+)$/\1/')
port=${FERRULE_UCX_PORT:-13337}
megabytes=1000000
# About a gigabyte each time, after a warm-up of a tenth of that.
iterations=$((1000 * megabytes / size + 1))
warmup=$((iterations / 10 + 1))
results=$(mktemp)
trap 'rm -f "$results"' EXIT

# A line of /proc/net/tcp6 or tcp: an address and the port, another, and 0A for a listening socket.
is_listening() { grep -qE "$(printf ':%04X [0-9A-F]+:0000 0A ' "$port")" /proc/net/tcp /proc/net/tcp6 2>/dev/null; }

# ucx TRANSPORTS TEST: runs both sides; prints MB/s.
ucx() {
  export UCX_TLS=$1
  timeout 120 ucx_perftest -p "$port" -c "$last" >/dev/null 2>&1 &
  until is_listening || ! kill -0 $! 2>/dev/null; do sleep 0.1; done
  # The fourth number of the last line is the time of one operation in microseconds.
  timeout 120 ucx_perftest 127.0.0.1 -p "$port" -c "$first" -t "$2" -s "$size" -n "$iterations" -w "$warmup" -f \
    | tail -1 | awk -v size="$size" '{print size / $4}'
  wait || true
}

# ferrule ARGUMENT…: prints MB/s, a line for each result.
ferrule() {
  local json
  json=$(mktemp)
  "$root/ferrule" "$@" --size "$size" --wait spin --json "$json" >/dev/null
  tr ',{' '\n' <"$json" | sed -nE 's|^ *"bytes_per_s": *([0-9.E]+).*|\1|p' | awk '{print $1 / 1000000}'
  rm -f "$json"
}

note() { printf '%-22s %10.0f MB/s\n' "$1" "$2" | tee -a "$results"; }

# rma PATH: notes the rates of writes and reads.
rma() {
  local rates
  mapfile -t rates < <(ferrule rma --path "$1" --rounds 3)
  note "write-$1" "${rates[0]}"
  note "read-$1" "${rates[1]}"
}

for _ in $(seq "$rounds"); do
  note messages "$(ferrule bandwidth --rounds 3)"
  note ucx-am "$(ucx posix ucp_am_bw)"
  note ucx-am-cma "$(ucx posix,cma ucp_am_bw)"
  rma cma
  note ucx-put-cma "$(ucx posix,cma ucp_put_bw)"
  note ucx-get-cma "$(ucx posix,cma ucp_get)"
  rma mmap
  note ucx-put "$(ucx posix ucp_put_bw)"
  note ucx-get "$(ucx posix ucp_get)"
done

median() { awk -v name="$1" '$1 == name {print $2}' "$results" | sort -g | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

echo
echo "$size bytes, medians of $rounds, MB/s; UCX $(ucx_info -v | sed -nE 's/^# (Library version: |Version )([0-9.]+).*/\2/p' | head -1):"
# ratio OURS OTHER
ratio() {
  local ours other
  ours=$(median "$1") other=$(median "$2")
  printf '%-14s %8.0f  %-14s %8.0f  ratio %.2f\n' "$1" "$ours" "$2" "$other" "$(awk "BEGIN {print $ours / $other}")"
}
ratio messages ucx-am
ratio messages ucx-am-cma
ratio write-cma ucx-put-cma
ratio read-cma ucx-get-cma
ratio write-mmap ucx-put
ratio read-mmap ucx-get
