#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the processor time of a message over RDMA without hardware: in Java (dev.ferrule.rdma.idle in benchmarks)
# beside the same in C (post_loop.c), over the same idle device (idle_device.c):
#   build-support/bench/rdma-path.sh [RUNS [BENCHMARKS]], such as 5 'RdmaSendBenchmark.send$'
# RUNS (3) is the number of times that both are measured, in turns. The table has the minima: ns per message, the
# difference, and the bytes allocated per message. BENCHMARKS is a regular expression; by default all are measured, in 2
# minutes per run. Needs a C compiler and the headers of libibverbs: apt-get install gcc libc6-dev libibverbs-dev
# FERRULE_JAVA_OPTS adds options to the JVMs that are measured.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$root/build-support/find-jdk.sh"
. "$root/build-support/build.sh"

runs=${1:-3}
benchmarks=${2:-dev.ferrule.rdma.idle}
if ! command -v cc >/dev/null || ! echo '#include <infiniband/verbs.h>' | cc -E - >/dev/null 2>&1; then
  echo "rdma-path.sh: no C compiler, or no headers of libibverbs: apt-get install gcc libc6-dev libibverbs-dev" >&2
  exit 1
fi
jdk=$(find_jdk) || { explain_missing_jdk; exit 1; }
ensure_built rdma-path.sh benchmarks

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cc -O2 -Wall -Wextra -shared -fPIC -o "$out/libidle_device.so" "$here/idle_device.c"
# Linked to the same library, so that the device is called in the same way.
cc -O2 -Wall -Wextra -o "$out/post_loop" "$here/post_loop.c" "$out/libidle_device.so"

measure_c() {
  local provider length batch
  for provider in sendrecv magicring; do
    for batch in 1 8 64; do
      for length in 64 1024; do "$out/post_loop" "$provider" send "$batch" "$length"; done
    done
    for batch in 1 16; do "$out/post_loop" "$provider" receive "$batch" 64; done
  done
}

measure_java() {
  "$jdk/bin/java" -cp "$(built_folder benchmarks)/lib/*" org.openjdk.jmh.Main "$benchmarks" -f 1 -prof gc \
    -rf csv -rff "$1" -jvmArgsAppend "-Dferrule.idleDevice=$out/libidle_device.so ${FERRULE_JAVA_OPTS:-}" >"$out/log" 2>&1 \
    && [ -s "$1" ] || { tail -n 40 "$out/log" >&2; exit 1; }
}

for ((run = 1; run <= runs; run++)); do
  echo "rdma-path.sh: run $run of $runs" >&2
  measure_c >>"$out/c"
  measure_java "$out/csv"
  tr -d '"\r' <"$out/csv" >>"$out/java"
done

awk -F, '
  function least(values, key, value) { if (!(key in values) || value < values[key]) values[key] = value }
  FILENAME ~ /c$/ { least(c, $1 " " $2 " " $3 " " $4, $5 + 0); next }
  $1 == "Benchmark" {
    length_at = provider_at = 0
    for (i = 1; i <= NF; i++) {
      if ($i == "Param: length") length_at = i
      if ($i == "Param: provider") provider_at = i
    }
    next
  }
  {
    call = $1
    sub(/:.*/, "", call)
    sub(/.*\./, "", call)
    bytes = length_at > 0 && $length_at != "" ? $length_at : 64
    key = $provider_at " " call " " bytes
    if ($1 ~ /gc.alloc.rate.norm/) {
      least(allocated, key, $5 + 0)
    } else if ($1 !~ /:/) {
      if (!(key in java)) keys[++known] = key
      least(java, key, $5 + 0)
    }
  }
  END {
    printf "%-9s  %-14s  %5s  %8s  %8s  %8s  %6s\n", "provider", "call", "bytes", "Java", "C", "Java-C", "B/op"
    for (i = 1; i <= known; i++) {
      split(keys[i], part, " ")
      batch = part[2]
      gsub(/[^0-9]/, "", batch)
      if (batch == "") batch = 1
      kind = part[2] ~ /poll|receive/ ? "receive" : "send"
      same = c[part[1] " " kind " " batch " " part[3]]
      printf "%-9s  %-14s  %5d  %8.1f  %8.1f  %8.1f  %6.1f\n", part[1], part[2], part[3], java[keys[i]], same,
        java[keys[i]] - same, allocated[keys[i]]
    }
  }' "$out/c" "$out/java"
