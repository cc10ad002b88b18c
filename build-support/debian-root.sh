#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the essential packages of this Debian-like machine as a tar of a file system, for 'docker import', where no
# registry can be reached: debian-root.sh FILE
set -euo pipefail
command -v dpkg-query >/dev/null || { echo "debian-root: this is not a Debian-like system" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The essential packages, and those that they need, by their names.
mapfile -t packages < <(dpkg-query -W -f '${binary:Package}\t${Package}\t${Essential}\t${Pre-Depends}, ${Depends}\n' | awk -F '\t' '
  { name[$2] = $1; needs[$2] = $4; if ($3 == "yes") queue[++last] = $2 }
  END {
    for (i = 1; i <= last; i++) {
      one = queue[i]
      if (one in done || !(one in name)) continue
      done[one] = 1
      print name[one]
      count = split(needs[one], words, /[,|]/)
      for (j = 1; j <= count; j++) {
        gsub(/\([^)]*\)|:any|[ \t]/, "", words[j])
        if (words[j] != "") queue[++last] = words[j]
      }
    }
  }')
[ ${#packages[@]} -gt 10 ] || { echo "debian-root: cannot list the essential packages" >&2; exit 1; }

root=$scratch/root
mkdir -p "$root"/{dev,proc,sys,tmp,etc,usr/local/bin,var/{log,lib/dpkg/{info,updates,triggers,alternatives,parts}}}
chmod 1777 "$root/tmp"
for link in bin sbin lib lib32 lib64 libx32; do
  [ ! -h "/$link" ] || cp -a "/$link" "$root/$link"
done
# A package may name a file by such a link. Its documentation is not needed.
dpkg-query -L "${packages[@]}" | grep '^/.' | grep -v -e '^/usr/share/\(doc\|man\|locale\|info\)/' | while read -r file; do
  if [ -f "$file" ] || [ -h "$file" ]; then echo "$(realpath "${file%/*}/")/${file##*/}"; fi
done | sort -u >"$scratch/files"
tar -C / -cf - -T <(sed 's|^//*||' "$scratch/files") | tar -C "$root" -xf -
cp /etc/passwd /etc/group "$root/etc"

dpkg-query -s "${packages[@]}" | sed 's/^Status: .*/Status: install ok installed/' >"$root/var/lib/dpkg/status"
for package in "${packages[@]}"; do
  cp "/var/lib/dpkg/info/$package".* "/var/lib/dpkg/info/${package%:*}".* "$root/var/lib/dpkg/info" 2>/dev/null || true
done
cp /var/lib/dpkg/info/format "$root/var/lib/dpkg/info"
tar -C "$root" -cf "$1" .
