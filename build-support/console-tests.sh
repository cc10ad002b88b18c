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

# Sets jvm: the command of a JVM with the tests' class path. Only C1 compiles: on emulated processors, compilations by
# C2 are slow. The heap is limited because the tests also start processes, pin memory and write files, all of which
# takes a virtual machine's memory. Assertions are enabled, as under Maven: with them Ferrule checks that only one
# thread uses a Sender or a Receiver. Arguments: further options of the JVM.
set_jvm() {
  jvm=("$jdk/bin/java" -ea -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED
    '-Djunit.jupiter.execution.timeout.testable.method.default=10 m'
    -Djunit.jupiter.execution.timeout.threaddump.enabled=true -cp "$FERRULE_TEST_CLASS_PATH" "$@")
}

# Sets selection: the launcher's arguments for the tests of package $1 with the tags of expression $2. Those that are
# tagged "whole" run if FERRULE_WHOLE is set. FERRULE_TESTS selects among these by a regular expression, as
# TestPick.java describes.
set_selection() {
  jvm+=("-Dferrule.tests.pick=${FERRULE_TESTS:-}")
  filters=(--include-tag "$2" '--include-classname=.*')
  [ -n "${FERRULE_WHOLE:-}" ] || filters+=(--exclude-tag whole)
  selection=(--select-package "$1" "${filters[@]}")
}

# Prints the unique ids of the selected test methods. The launcher's own count lacks those with parameters.
list_selected() {
  local tests
  if ! tests=$("${jvm[@]}" org.junit.platform.console.ConsoleLauncher discover --disable-banner --disable-ansi-colors \
    --details=verbose "${selection[@]}" </dev/null 2>&1); then
    grep -m 1 PatternSyntaxException <<<"$tests" >&2 || tail -n 3 <<<"$tests" >&2
    return 1
  fi
  sed -nE 's/.*uniqueId: (.*\[(method|test-template|test-factory|property):[^]]*\])$/\1/p' <<<"$tests"
}

# Selects the same tests by their classes: on emulated processors it takes half a minute to discover them.
select_classes() {
  local methods classes
  methods=$(list_selected) || return
  [ "$methods" ] || { echo "no test is selected" >&2; return 2; }
  mapfile -t classes < <(sed -E 's/^[^/]*\/\[class:([^]]*)\].*/\1/' <<<"$methods" | sort -u)
  selection=("${classes[@]/#/--select-class=}" "${filters[@]}")
}

# Prints how many test methods are selected.
count_selected() {
  local methods
  methods=$(list_selected) || return 1
  grep -c . <<<"$methods" || true
}

# Sets launcher: the arguments of a JVM that runs the tests of a selection and reports to folder $1.
set_launcher() {
  launcher=("-Dferrule.tests.results=$1/results.tsv"
    "-XX:ErrorFile=$1/hs_err_pid%p.log"
    org.junit.platform.console.ConsoleLauncher execute --disable-banner --disable-ansi-colors
    --details=summary --fail-if-no-tests "${@:2}")
}

# run_groups FOLDER FUNCTION [one]: runs the selected tests in groups of classes, GROUPS_AT_ONCE at the same time, or in
# one group. FUNCTION is called for each with a folder for its reports and its selection. One JVM that crashes, or one
# machine that fails, is repeated, since emulation can cause that. FOLDER gets the results of all. Returns 0 if each
# test has passed, and 1 if only tests have failed.
run_groups() {
  local folder=$1 groups group number=0 code result=0
  trap 'kill $(jobs -p) 2>/dev/null; exit 143' INT TERM
  if [ "${3:-}" ] || [[ ${selection[0]} = --select-unique-id=* ]]; then
    number=1
    run_group "$folder/1" "$2" "${selection[@]}"
  else
    groups=$(class_groups) || return
    [ "$groups" ] || { echo "no test is selected"; return 2; }
    while read -ra group; do
      number=$((number + 1))
      [ "$(jobs -rp | wc -l)" -lt "$GROUPS_AT_ONCE" ] || wait -n
      run_group "$folder/$number" "$2" "${group[@]/#/--select-class=}" "${filters[@]}" &
    done <<<"$groups"
    wait
  fi
  trap - INT TERM
  for ((group = 1; group <= number; group++)); do
    code=$(cat "$folder/$group/code") || code=125
    grep -av '^ENDED$' "$folder/$group/results.tsv" >>"$folder/results.tsv" || true
    tail -n 1 "$folder/$group/results.tsv" | grep -qx ENDED || [ "$code" -gt 1 ] || code=125
    [ "$code" = 0 ] || [ "$result" -gt 1 ] || result=$code
  done
  [ "$result" -gt 1 ] || echo ENDED >>"$folder/results.tsv"
  return "$result"
}

GROUPS_AT_ONCE=2
GROUP_SIZE=40  # methods; each group starts a machine and a JVM, which takes a few seconds

# Prints the classes of the selected tests, a line for each group. Those with most methods come last, each in its own
# group: they are the contracts, which take about equally long, so that no long group remains when all others have
# ended.
class_groups() {
  local methods
  methods=$(list_selected) || return
  sed -E 's/^[^/]*\/\[class:([^]]*)\].*/\1/' <<<"$methods" | sort | uniq -c | sort -n | awk -v size="$GROUP_SIZE" '
    { sum += $1; printf "%s", $2; if (sum >= size) { print ""; sum = 0 } else { printf " " } }
    END { if (sum > 0) print "" }'
}

run_group() {
  local folder=$1 function=$2 code=0
  shift 2
  mkdir "$folder" || return
  "$function" "$folder" "$@" || code=$?
  # The first crash creates the folder; later ones fail to.
  if [[ $code =~ ^(125|134|139)$ ]] && mkdir "${folder%/*}/crashed" 2>/dev/null; then
    echo "a JVM or its machine died with $code, which emulation can cause: its tests are repeated, once"
    mv "$folder"/*.tsv "$folder"/hs_err* "$folder/console" "${folder%/*}/crashed" 2>/dev/null || true
    code=0
    "$function" "$folder" "$@" || code=$?
    keep_failures "${folder%/*}/crashed/results.tsv" "$folder/results.tsv" || [ "$code" != 0 ] || code=1
  fi
  echo "$code" >"$folder/code"
}

# Adds the failures before a crash, in file $1, to the results of the repetition, so that they are repeated like others.
# Returns 1 if there are some.
keep_failures() {
  local failures
  failures=$(grep -as '^FAILED' "$1") || return 0
  { echo "$failures"; cat "$2"; } >"$2.all"
  mv "$2.all" "$2"
  return 1
}

# run_attempts REPORTS FUNCTION: runs the selected tests by FUNCTION, which is called with the folder of the attempt's
# reports and executes the command in launcher. Tests that fail are repeated, in a new JVM, up to two times; a JVM that
# crashes or reports nothing is not repeated, nor are more failures than FLAKY_LIMIT. Returns 0 if each test has passed.
run_attempts() {
  local reports=$1 attempt code=0 failed
  rm -rf -- "$reports"
  for ((attempt = 1; attempt <= ATTEMPTS; attempt++)); do
    mkdir -p "$reports/$attempt"
    set_launcher "$reports/$attempt" "${selection[@]}"
    code=0
    "$2" "$reports/$attempt" || code=$?
    # a test may have failed before a crash and again
    mapfile -t failed < <(awk -F '\t' 'NF >= 5 && $1 == "FAILED" { print $4 }' "$reports/$attempt/results.tsv" 2>/dev/null | sort -u)
    [ "$code" = 1 ] && tail -n 1 "$reports/$attempt/results.tsv" | grep -qx ENDED || return "$code"
    [ "${#failed[@]}" -gt 0 ] && [ "${#failed[@]}" -le "$FLAKY_LIMIT" ] || return "$code"
    [ "$attempt" = "$ATTEMPTS" ] || echo "repeating ${#failed[@]} failed tests (repetition $attempt of $((ATTEMPTS - 1)))"
    selection=("${failed[@]/#/--select-unique-id=}" "${filters[@]}")
  done
  return "$code"
}
