#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counts JVM crashes in the virtual machine of ./with-rxe: build-support/rxe/crash-soak.sh [STARTS]
# Boots it once. In it, STARTS JVMs (40) run JitChurn, which compiles and deoptimizes continuously, two at a time.
# Crashes, wrong results and runs of more than 120 s count as failures; the exit code is 1 if there is one.
# The JVMs are the project's JDK and, for every second one, JAVA17_HOME if it is set. SOAK_JAVA_OPTIONS adds JVM
# options. No JVM starts after SOAK_SECONDS (240).
set -uo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
# shellcheck source=build-support/find-jdk.sh
. "$root/build-support/find-jdk.sh"
jdk=$(find_jdk) || { explain_missing_jdk; exit 1; }
starts=${1:-40} seconds=${SOAK_SECONDS:-240}

if [ -z "${SOAK_CLASSES:-}" ]; then
  SOAK_CLASSES=$(mktemp -d "${TMPDIR:-/tmp}/crash-soak.XXXXXX")
  trap 'rm -rf -- "$SOAK_CLASSES"' EXIT
  export SOAK_CLASSES
  "$jdk/bin/javac" -Xlint:all,-options -Werror --release 17 -d "$SOAK_CLASSES" "$root/build-support/rxe/JitChurn.java" \
    || exit
  "$root/with-rxe" --vm --verbose --no-repeat --time-limit $((seconds + 300)) "${BASH_SOURCE[0]}" "$starts"
  exit
fi

logs=$(mktemp -d)

# lane NAME JDK STARTS: prints each failure and a summary; fails if there was a failure.
lane() {
  local name=$1 java=$2/bin/java count=$3 started=0 failed=0 code log
  while [ "$started" -lt "$count" ] && [ "$SECONDS" -lt "$seconds" ]; do
    started=$((started + 1))
    log=$logs/$name.$started
    # A tenth of the usual thresholds, so that a short run compiles as much as a long one.
    # shellcheck disable=SC2086 # a list of words
    timeout -s KILL 120 "$java" -XX:+UseSerialGC -XX:CompileThresholdScaling=0.1 -XX:-CreateCoredumpOnCrash \
      "-XX:ErrorFile=$log.hs" ${SOAK_JAVA_OPTIONS:-} -cp "$SOAK_CLASSES" JitChurn 8 3000 >"$log" 2>&1
    code=$?
    [ "$code" -ne 0 ] || continue
    failed=$((failed + 1))
    echo "$name, start $started: exit code $code"
    grep -m 2 -E 'WRONG|SIG[A-Z]+ ' "$log"
    grep -A 2 'Problematic frame' "$log.hs" 2>/dev/null
  done
  echo "$name: $started starts, $failed failed, $SECONDS s"
  [ "$failed" -eq 0 ]
}

failed=0
lane first "$jdk" $((starts / 2)) &
lane second "${JAVA17_HOME:-$jdk}" $((starts - starts / 2)) &
for lane in $(jobs -p); do wait "$lane" || failed=1; done
exit "$failed"
