#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests in containers: container-tests.sh REPORTS [JVM-OPTION…]
# Needs a Docker engine, and starts one if permitted; see docker.sh. Without an engine the tests are skipped, which is a
# failure if CI is set. Called by ./test; see console-tests.sh for how tests are selected and repeated.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/console-tests.sh"
. "$root/build-support/docker.sh"
reports=$1
shift
label=dev.ferrule.tests=$$-$RANDOM
set_jvm "-Ddev.ferrule.tests=${label#*=}" "$@"
set_selection dev.ferrule.integration.containers containers
if [ -n "${FERRULE_COUNT:-}" ]; then
  count_selected
  exit
fi

tests_pid=''
clean_up() {
  trap '' INT TERM HUP
  if [ -n "$tests_pid" ]; then
    kill -TERM "$tests_pid" 2>/dev/null || true
    wait "$tests_pid" 2>/dev/null || true
    [ -n "$engine_folder" ] || remove_labelled "$label" || true
  fi
  stop_engine
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

if ! start_engine; then
  case ${CI:-} in
    '' | false | 0)
      cat >&2 <<'EOF'
container-tests: SKIPPED: no Docker engine, see above.
container-tests: Start one that "docker info" finds with this user's permissions, or run as root on a Debian-like system.
EOF
      mkdir -p "$reports"
      echo "no Docker engine" >"$reports/skipped"
      exit 0
      ;;
  esac
  cat >&2 <<'EOF'
container-tests: FAILED: no Docker engine, see above; with CI set, tests must not be skipped silently.
container-tests: Provide an engine, or run as root with apt-get; or leave these tests out: ./test --help
EOF
  exit 1
fi

# Testcontainers would have to fetch the images of its reaper and of its host detection.
export TESTCONTAINERS_RYUK_DISABLED=true TESTCONTAINERS_CHECKS_DISABLE=true TESTCONTAINERS_HOST_OVERRIDE=localhost
# In the background, since a shell handles no signal while it waits for a foreground process.
with_engine() {
  local code=0
  "${jvm[@]}" "${launcher[@]}" </dev/null &
  tests_pid=$!
  wait "$tests_pid" || code=$?
  return "$code"
}
run_attempts "$reports" with_engine
