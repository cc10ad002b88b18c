#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prints the commit of this checkout, with -dirty if files differ from it; nothing outside a checkout, or without git.
# The hash has a fixed length and no tag, so that all clones of a commit print the same.
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
# Sources without .git may be inside another repository.
[ -e "$root/.git" ] || exit 0
git -C "$root" describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null || true
