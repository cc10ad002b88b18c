#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the bindings in the tree with those that generate.sh generates from this machine's headers. Exit code 0: they
# are equal; 1: they differ, and the difference is printed; 2: a tool or header for the comparison is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if ! command -v "${JEXTRACT:-jextract}" >/dev/null; then
  cat >&2 <<'EOT'
check-drift: jextract is not installed. Download jextract 25 from jdk.java.net/jextract and put its bin folder on
PATH, or set JEXTRACT to the program.
EOT
  exit 2
fi
for header in infiniband/verbs.h rdma/rdma_cma.h; do
  if [ ! -e "/usr/include/$header" ]; then
    echo "check-drift: $header is missing: apt-get install libibverbs-dev librdmacm-dev libc6-dev" >&2
    exit 2
  fi
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$here/generate.sh" "$scratch"
root=$(cd "$here/../.." && pwd)
same=yes
for package in posix/src/main/java/dev/ferrule/posix/libc verbs/src/main/java/dev/ferrule/verbs/lib{ibverbs,rdmacm}; do
  diff -ru "$root/$package" "$scratch/$package" || same=no
done
if [ "$same" = yes ]; then
  echo "check-drift: the bindings equal the output of generate.sh"
else
  echo "check-drift: the bindings differ from the output of generate.sh for this machine's headers (above). If these" >&2
  echo "headers are the intended ones, run build-support/jextract/generate.sh . and commit the result." >&2
  exit 1
fi
