#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures many connections at once, each with a thread at both ends, over sm (wait=adaptive and block), Unix domain sockets and Aeron:
#   ./compare --version && build-support/many-connections.sh [options], such as --connections 64,500 --rounds 1
# For docs/performance.md. --help lists the options. FERRULE_JAVA_OPTS adds options to all JVMs that are measured.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
. "$root/build-support/find-jdk.sh"

jdk=$(find_jdk) || { explain_missing_jdk; exit 1; }
if [ ! -d "$root/peers/target/peers/lib" ]; then
  echo "many-connections.sh: it is not built; run ./compare --version first" >&2
  exit 1
fi
# shellcheck disable=SC2086 # FERRULE_JAVA_OPTS is a list of words.
exec "$jdk/bin/java" -XX:+UseSerialGC -XX:-UsePerfData --enable-native-access=ALL-UNNAMED \
  --add-opens java.base/jdk.internal.misc=ALL-UNNAMED ${FERRULE_JAVA_OPTS:-} -cp "$root/peers/target/peers/lib/*" \
  dev.ferrule.peers.concurrency.ManyConnections "$@"
