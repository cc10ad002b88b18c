#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Generates the bindings from this machine's C headers, below the folder given: generate.sh FOLDER
# In a checkout: build-support/jextract/generate.sh .
# Needs jextract 25 on PATH (or $JEXTRACT), libibverbs-dev, librdmacm-dev, libc6-dev.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
jextract=${JEXTRACT:-jextract}
folder=${1:?usage: generate.sh FOLDER}
posix=$folder/posix/src/main/java
verbs=$folder/verbs/src/main/java
rm -rf "$posix/dev/ferrule/posix/libc" "$verbs/dev/ferrule/verbs/libibverbs" "$verbs/dev/ferrule/verbs/librdmacm"
"$jextract" --output "$posix" -t dev.ferrule.posix.libc --header-class-name LibC "@$here/libc.args" "$here/libc.h"
"$jextract" --output "$verbs" -t dev.ferrule.verbs.libibverbs --header-class-name Verbs -l :libibverbs.so.1 \
  "@$here/verbs.args" "$here/verbs.h"
"$jextract" --output "$verbs" -t dev.ferrule.verbs.librdmacm --header-class-name RdmaCm -l :librdmacm.so.1 \
  "@$here/rdmacm.args" "$here/rdmacm.h"

# Writes the checksums of the input and the output. SourceTreeTest compares them with the tree, and needs no jextract.
root=$(cd "$here/../.." && pwd)
if [ "$folder" -ef "$root" ]; then
  cd "$root"
  sha256sum build-support/jextract/*.{args,h} posix/src/main/java/dev/ferrule/posix/libc/*.java \
    verbs/src/main/java/dev/ferrule/verbs/lib*/*.java \
    > build-support/jextract/SHA256SUMS
fi
