#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the last commit twice, in two folders, and compares every jar.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Folders of different names and depths, so that a path in a jar shows.
for folder in one a/second; do
  git clone -q "$root" "$scratch/$folder"
  (cd "$scratch/$folder" && mvn -B -ntp -q package -Pall -DskipTests -Dspotless.check.skip)
  (cd "$scratch/$folder" && find . -path '*/target/ferrule-*.jar' -exec sha256sum {} + | sort -k 2) \
    >"$scratch/$(basename "$folder").sums"
done

[ -s "$scratch/one.sums" ] || { echo "check-reproducible: the build created no jar" >&2; exit 1; }
if diff "$scratch/one.sums" "$scratch/second.sums"; then
  echo "check-reproducible: $(wc -l <"$scratch/one.sums") jars are equal in two builds"
else
  echo "check-reproducible: the jars above differ between two builds of one commit" >&2
  exit 1
fi
