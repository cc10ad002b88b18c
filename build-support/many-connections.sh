#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures many concurrent connections, each with a thread on both sides, over sm (wait=adaptive and block), Unix domain
# sockets and Aeron:
#   build-support/many-connections.sh [options], such as --connections 64,500 --rounds 1
# Builds first, unless it was built after the last change of the sources. For docs/performance.md.
# --help lists the options. FERRULE_JAVA_OPTS adds options to all JVMs that are measured.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
. "$root/build-support/find-jdk.sh"
. "$root/build-support/build.sh"

jdk=$(find_jdk) || { explain_missing_jdk; exit 1; }
ensure_built many-connections.sh lab

# shellcheck disable=SC2086 # FERRULE_JAVA_OPTS is a list of words.
exec "$jdk/bin/java" -XX:+UseSerialGC -XX:-UsePerfData --enable-native-access=ALL-UNNAMED \
  --add-opens java.base/jdk.internal.misc=ALL-UNNAMED ${FERRULE_JAVA_OPTS:-} -cp "$(built_folder lab)/lib/*" \
  dev.ferrule.lab.compare.concurrency.ManyConnections "$@"
