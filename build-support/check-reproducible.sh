#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Releases the last commit twice, from two folders to two others, with the unpacked tar of ./dist, and compares every file
# but the archive of classes, whose contents depend on the timing. Signatures would differ, as each contains its time, so
# that none are made.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Folders of different names and depths, so that a path in a file shows. A release builds in a folder under TMPDIR.
for folder in one a/second; do
  mkdir -p "$scratch/$folder/tmp"
  git clone -q "$root" "$scratch/$folder/ferrule"
  TMPDIR=$scratch/$folder/tmp "$scratch/$folder/ferrule/release" 0.0.0 --to "$scratch/$folder/repository"
  "$scratch/$folder/ferrule/dist" tar --to "$scratch/$folder/dist"
  tar -xzf "$scratch/$folder"/dist/*.tar.gz -C "$scratch/$folder/repository"
  rm "$scratch/$folder/repository"/*/lib/ferrule.jsa
done

if diff -r "$scratch/one/repository" "$scratch/a/second/repository"; then
  echo "check-reproducible: $(find "$scratch/one/repository" -type f | wc -l) files are equal in two releases"
else
  echo "check-reproducible: the files above differ between two releases of one commit" >&2
  exit 1
fi
