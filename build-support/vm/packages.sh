# SPDX-License-Identifier: Apache-2.0
# Sourced by ./with-rxe, ./with-arch and uml.sh: installs the Debian packages that they need.
# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of these scripts
. "$(dirname "${BASH_SOURCE[0]}")/../apt.sh"

# Installs the packages printed by function $1 if permitted, or prints what to install and returns 1.
ensure_packages() {
  local missing
  mapfile -t missing < <("$1")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    say "missing packages: ${missing[*]}"
    say "install them, for example with: sudo apt-get install --no-install-recommends ${missing[*]}"
    return 1
  fi
  say "installing ${missing[*]}"
  # Another run may do the same.
  (
    flock 9
    [ "$("$1")" ] || exit 0
    quiet_apt 300 update || true
    quiet_apt 900 install -y --no-install-recommends "${missing[@]}"
  ) >"$run/packages.log" 2>&1 9>"$cache/packages.lock" && [ -z "$("$1")" ] && return
  tail -n 5 "$run/packages.log" >&2
  say "cannot install ${missing[*]}"
  return 1
}
