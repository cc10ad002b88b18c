# SPDX-License-Identifier: Apache-2.0
# Sourced by rdma-tests.sh and container-tests.sh: runs tests by JUnit's console launcher, and repeats those that fail.
# The tests are those of the module integration-tests, in the class path FERRULE_TEST_CLASS_PATH.
# shellcheck shell=bash

ATTEMPTS=3
# More failures than this make a run fail even if all of them pass when repeated; see TestReport.java.
FLAKY_LIMIT=3

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=build-support/find-jdk.sh
. "$root/build-support/find-jdk.sh"
jdk=$(find_jdk) || { explain_missing_jdk; exit 1; }

# Sets jvm: the command of a JVM with the tests' class path. Where messages are slow, so are the C2 compiler's
# compilations. The heap is limited because the tests also start processes, pin memory and write files, in a virtual
# machine all in its memory. Assertions are enabled, as under Maven: with them Ferrule checks that only one thread uses a
# Sender or a Receiver. Arguments: further options of the JVM.
set_jvm() {
  jvm=("$jdk/bin/java" -ea -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED
    '-Djunit.jupiter.execution.timeout.testable.method.default=10 m'
    -Djunit.jupiter.execution.timeout.threaddump.enabled=true -cp "$FERRULE_TEST_CLASS_PATH" "$@")
}

# Sets selection: the launcher's arguments for the tests of package $1 with tag $2. Those that are tagged "whole" run if
# FERRULE_WHOLE is set. FERRULE_TESTS selects of these by a regular expression, as TestPick.java describes.
set_selection() {
  jvm+=("-Dferrule.tests.pick=${FERRULE_TESTS:-}")
  selection=(--select-package "$1" --include-tag "$2" '--include-classname=.*')
  [ -n "${FERRULE_WHOLE:-}" ] || selection+=(--exclude-tag whole)
}

# Prints how many test methods are selected. The launcher's own count lacks those with parameters.
count_selected() {
  local tests
  if ! tests=$("${jvm[@]}" org.junit.platform.console.ConsoleLauncher discover --disable-banner --disable-ansi-colors \
    --details=verbose "${selection[@]}" </dev/null 2>&1); then
    grep -m 1 PatternSyntaxException <<<"$tests" >&2 || tail -n 3 <<<"$tests" >&2
    return 1
  fi
  grep -cE 'uniqueId: .*\[(method|test-template|test-factory|property):[^]]*\]$' <<<"$tests" || true
}

# run_attempts REPORTS FUNCTION: runs the selected tests by FUNCTION, which is called with the folder of the attempt's
# reports and executes the command in launcher. Tests that fail are repeated, in a new JVM, up to two times; a JVM that
# crashes or reports nothing is not, nor are more failures than may be flaky. Returns 0 if each test has passed.
run_attempts() {
  local reports=$1 attempt code=0 failed
  rm -rf -- "$reports"
  for ((attempt = 1; attempt <= ATTEMPTS; attempt++)); do
    mkdir -p "$reports/$attempt"
    launcher=("-Dferrule.tests.results=$reports/$attempt/results.tsv"
      "-XX:ErrorFile=$reports/$attempt/hs_err_pid%p.log"
      org.junit.platform.console.ConsoleLauncher execute --disable-banner --disable-ansi-colors
      --details=summary --fail-if-no-tests "${selection[@]}")
    code=0
    "$2" "$reports/$attempt" || code=$?
    mapfile -t failed < <(awk -F '\t' '$1 == "FAILED" { print $4 }' "$reports/$attempt/results.tsv" 2>/dev/null)
    [ "$code" = 1 ] && tail -n 1 "$reports/$attempt/results.tsv" | grep -qx ENDED || return "$code"
    [ "${#failed[@]}" -gt 0 ] && [ "${#failed[@]}" -le "$FLAKY_LIMIT" ] || return "$code"
    [ "$attempt" = "$ATTEMPTS" ] || echo "repeating ${#failed[@]} failed tests (repetition $attempt of $((ATTEMPTS - 1)))"
    selection=("${failed[@]/#/--select-unique-id=}")
  done
  return "$code"
}
