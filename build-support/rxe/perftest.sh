#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures sendrecv beside perftest, in turns in one run: ./with-rxe --with-tools build-support/rxe/perftest.sh [ROUNDS]
# Writes a line for each run, and then the medians and their ratios. For docs/performance.md.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rounds=${1:-3}
size=64
depth=64
batch=8
device=${FERRULE_RXE_DEVICE:?run this by with-rxe}
address=${FERRULE_RXE_ADDRESS:?the device has no address}
gid=$(grep -il "$(printf '%02x%02x:%02x%02x' ${address//./ })" "/sys/class/infiniband/$device/ports/1/gids/"* 2>/dev/null | head -1)
gid=$(basename "${gid:-1}")
# The compiler works in the foreground: two threads that spin leave it no processor of two.
export FERRULE_JAVA_OPTS="-Xbatch ${FERRULE_JAVA_OPTS:-}"
results=$(mktemp)
trap 'rm -f "$results"' EXIT

# perftest COMMAND ARGUMENT…: runs both sides, prints the line of the results.
perftest() {
  "$@" -d "$device" -x "$gid" -s $size >/dev/null 2>&1 &
  sleep 1
  "$@" -d "$device" -x "$gid" -s $size "$address" | grep -E "^ *$size "
  wait
}

# ferrule KEY ARGUMENT…: the median latency in ns, or the messages per second.
ferrule() {
  local key=$1 json
  shift
  json=$(mktemp)
  "$root/ferrule" "$@" --provider sendrecv --size $size --wait spin --json "$json" >/dev/null
  tr ',{' '\n\n' <"$json" | sed -nE "s|.*\"$key\": *([0-9.E]+).*|\1|p" | head -1
  rm -f "$json"
}

note() { printf '%-28s %12.2f\n' "$1" "$2" | tee -a "$results"; }

for _ in $(seq "$rounds"); do
  note ib_send_lat-us "$(perftest ib_send_lat -n 5000 | awk '{print $5}')"
  note ferrule-latency-us "$(ferrule p50 latency --warmup 40000 --messages 10000 | awk '{print $1 / 1000}')"
  note ib_send_bw-k/s "$(perftest ib_send_bw -n 20000 -t $depth -r 256 | awk '{print $5 * 1000}')"
  note ferrule-rate-k/s \
    "$(ferrule messages_per_s bandwidth --unacked $depth --warmup 100000 --messages 20000 | awk '{print $1 / 1000}')"
  note ib_send_bw-batch-k/s "$(perftest ib_send_bw -n 20000 -t $depth -r 256 -l $batch | awk '{print $5 * 1000}')"
  note ferrule-rate-batch-k/s "$(ferrule messages_per_s bandwidth --unacked $depth --batch $batch \
    --warmup 100000 --messages 20000 | awk '{print $1 / 1000}')"
done

median() { awk -v name="$1" '$1 == name {print $2}' "$results" | sort -g | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

echo
echo "$size bytes, medians of $rounds:"
ratio() { printf '%-8s %10.2f  perftest %10.2f  ratio %.2f\n' "$1" "$2" "$3" "$(awk "BEGIN {print $2 / $3}")"; }
ratio latency "$(median ferrule-latency-us)" "$(median ib_send_lat-us)"
ratio rate "$(median ferrule-rate-k/s)" "$(median ib_send_bw-k/s)"
ratio batches "$(median ferrule-rate-batch-k/s)" "$(median ib_send_bw-batch-k/s)"
