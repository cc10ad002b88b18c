#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests in containers: container-tests.sh CLASSPATH REPORTS
# Called by Maven; see integration-tests/pom.xml. Needs a Docker engine, and starts one if permitted; see docker.sh.
# Without an engine the tests are skipped, which is a failure under CI=true. FERRULE_CONTAINER_TESTS selects classes by
# a pattern, such as .*Namespaces.*.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/build-support/find-jdk.sh"
. "$root/build-support/docker.sh"
jdk=$(find_jdk) || { explain_missing_jdk; exit 1; }
class_path=$1
reports=$2

tests_pid='' label=dev.ferrule.tests=$$-$RANDOM
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
      cat >&2 <<'EOT'
container-tests: SKIPPED: no Docker engine, see above.
container-tests: Start one that "docker info" finds with this user's permissions, or run as root on a Debian-like system.
EOT
      exit 0
      ;;
  esac
  cat >&2 <<'EOT'
container-tests: FAILED: no Docker engine, see above; with CI set, tests must not be skipped silently.
container-tests: Provide an engine, or run as root with apt-get; or skip the tests with -Dcontainers.skip.
EOT
  exit 1
fi

# The images of the reaper and of the host detection would have to be fetched.
export TESTCONTAINERS_RYUK_DISABLED=true TESTCONTAINERS_CHECKS_DISABLE=true TESTCONTAINERS_HOST_OVERRIDE=localhost
# In the background, since a shell handles no signal while it waits for a foreground process.
"$jdk/bin/java" -ea -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED \
  "-Ddev.ferrule.tests=${label#*=}" -cp "$class_path" org.junit.platform.console.ConsoleLauncher execute \
  --disable-banner --disable-ansi-colors --details="${FERRULE_CONTAINER_DETAILS:-summary}" --fail-if-no-tests \
  --reports-dir "$reports" --select-package dev.ferrule.integration.containers --include-tag containers \
  --include-classname "${FERRULE_CONTAINER_TESTS:-.*Test(\$.*)?}" </dev/null &
tests_pid=$!
wait "$tests_pid"
