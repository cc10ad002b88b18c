#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares sendrecv and magicring with perftest and bare verbs, in interleaved rounds. Build first:
#   ./ferrule --version && ./benchmark -l && ./with-rxe --with-tools build-support/rxe/perftest.sh [ROUNDS]
# Prints a line for each run, and then the medians and their ratios. For docs/performance.md.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/build-support/find-jdk.sh"
jdk=$(find_jdk) || { explain_missing_jdk; exit 1; }
benchmarks=$root/benchmarks/target/benchmarks/lib
[ -d "$benchmarks" ] || { echo "the benchmarks are not built: run ./benchmark -l first" >&2; exit 1; }
rounds=${1:-3}
size=64
depth=64
batch=8
device=${FERRULE_RXE_DEVICE:?run this with ./with-rxe}
address=${FERRULE_RXE_ADDRESS:?the device has no address}
gid=$(grep -il "$(printf '%02x%02x:%02x%02x' ${address//./ })" "/sys/class/infiniband/$device/ports/1/gids/"* 2>/dev/null | head -1)
gid=$(basename "${gid:-1}")
# The compiler works in the foreground: two spinning threads leave it no processor of two.
java_options="-Xbatch -XX:TieredStopAtLevel=4 ${FERRULE_JAVA_OPTS:-}"
export FERRULE_JAVA_OPTS=$java_options
warmup=40000
messages=10000
results=$(mktemp) listening=$(mktemp)
trap 'rm -f "$results" "$listening"' EXIT

# perftest COMMAND ARGUMENT…: runs both sides, prints the line with the results.
perftest() {
  "$@" -d "$device" -x "$gid" -s $size >/dev/null 2>&1 &
  sleep 1
  "$@" -d "$device" -x "$gid" -s $size "$address" | grep -E "^ *$size "
  wait
}

# raw_write: prints the median latency of RDMA WRITE WITH IMMEDIATE in us, directly through the verbs.
raw_write() {
  : >"$listening"
  # shellcheck disable=SC2086 # a list of words
  set -- "$jdk/bin/java" -XX:+UseSerialGC $java_options --enable-native-access=ALL-UNNAMED \
    -cp "$benchmarks/*" dev.ferrule.verbs.RawWriteLatency
  "$@" server "$address" 18700 >"$listening" &
  until [ -s "$listening" ]; do sleep 0.2; done
  "$@" client "$address" 18700 $size $warmup $messages | awk '{print $2}'
  kill $! 2>/dev/null || true # if the client could not stop it
  wait || true
}

# ferrule KEY PROVIDER ARGUMENT…: prints the median latency in ns, or the messages per second.
ferrule() {
  local key=$1 provider=$2 json
  shift 2
  json=$(mktemp)
  "$root/ferrule" "$@" --provider "$provider" --size $size --wait spin --json "$json" >/dev/null
  tr ',{' '\n\n' <"$json" | sed -nE "s|.*\"$key\": *([0-9.E]+).*|\1|p" | head -1
  rm -f "$json"
}

# latency PROVIDER: prints the median in us.
latency() { ferrule p50 "$1" latency --warmup $warmup --messages $messages | awk '{print $1 / 1000}'; }

# rate PROVIDER ARGUMENT…: prints thousands of messages per second.
rate() {
  local provider=$1
  shift
  ferrule messages_per_s "$provider" bandwidth --unacked $depth --warmup 100000 --messages 20000 "$@" \
    | awk '{print $1 / 1000}'
}

note() { printf '%-28s %12.2f\n' "$1" "$2" | tee -a "$results"; }

for _ in $(seq "$rounds"); do
  note ib_send_lat-us "$(perftest ib_send_lat -n 5000 | awk '{print $5}')"
  note sendrecv-latency-us "$(latency sendrecv)"
  note magicring-latency-us "$(latency magicring)"
  note raw-write-latency-us "$(raw_write)"
  note ib_write_lat-us "$(perftest ib_write_lat -n 5000 | awk '{print $5}')"
  note ib_send_bw-k/s "$(perftest ib_send_bw -n 20000 -t $depth -r 256 | awk '{print $5 * 1000}')"
  note sendrecv-rate-k/s "$(rate sendrecv)"
  note magicring-rate-k/s "$(rate magicring)"
  note ib_send_bw-batch-k/s "$(perftest ib_send_bw -n 20000 -t $depth -r 256 -l $batch | awk '{print $5 * 1000}')"
  note sendrecv-rate-batch-k/s "$(rate sendrecv --batch $batch)"
  note magicring-rate-batch-k/s "$(rate magicring --batch $batch)"
done

median() { awk -v name="$1" '$1 == name {print $2}' "$results" | sort -g | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

echo
echo "$size bytes, medians of $rounds:"
# ratio OURS OTHER
ratio() {
  local ours other
  ours=$(median "$1") other=$(median "$2")
  printf '%-26s %10.2f  %-22s %10.2f  ratio %.2f\n' "$1" "$ours" "$2" "$other" "$(awk "BEGIN {print $ours / $other}")"
}
ratio sendrecv-latency-us ib_send_lat-us
ratio magicring-latency-us raw-write-latency-us
ratio magicring-latency-us ib_write_lat-us
ratio magicring-latency-us sendrecv-latency-us
ratio sendrecv-rate-k/s ib_send_bw-k/s
ratio magicring-rate-k/s ib_send_bw-k/s
ratio sendrecv-rate-batch-k/s ib_send_bw-batch-k/s
ratio magicring-rate-batch-k/s ib_send_bw-batch-k/s
