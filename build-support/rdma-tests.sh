#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that need an RDMA device, where there is one: rdma-tests.sh CLASSPATH REPORTS [SYSTEM-PROPERTY…]
# Maven calls this; see integration-tests/pom.xml. FERRULE_RDMA_TESTS picks classes by a pattern, such as .*Fault.*
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$root/build-support/find-jdk.sh"
jdk=$(find_jdk) || { explain_missing_jdk; exit 1; }
class_path=$1
reports=$2
shift 2

# In a virtual machine every message is slow, and so are the C2 compiler's compilations.
"$root/with-rxe" --keep "$reports" --time-limit 900 "$jdk/bin/java" "$@" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
  --enable-native-access=ALL-UNNAMED -cp "$class_path" org.junit.platform.console.ConsoleLauncher execute \
  --disable-banner --disable-ansi-colors --details=summary --fail-if-no-tests --reports-dir "$reports" \
  --select-package dev.ferrule.integration.rdma --include-tag rdma \
  --include-classname "${FERRULE_RDMA_TESTS:-.*Test}"
