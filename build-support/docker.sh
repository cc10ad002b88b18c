# SPDX-License-Identifier: Apache-2.0
# Sourced by container-tests.sh: provides a Docker engine for the tests. An engine that answers is used as it is.
# Otherwise, as root on a Debian-like system, a private one is started, with all files in a folder of its own and
# without a network; the package is installed if needed. stop_engine removes its processes and files.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/apt.sh"

engine_folder='' engine_pid=''

# Returns whether an engine answers, at DOCKER_HOST or in the client's context.
engine_answers() {
  command -v docker >/dev/null && timeout 20 docker info >/dev/null 2>&1
}

install_engine() {
  echo "docker: installing the package docker.io, for the tests in containers" >&2
  quiet_apt 180 update && quiet_apt 420 install -y --no-install-recommends docker.io || return 1
  # Some distributions have the client in a separate package.
  command -v docker >/dev/null || quiet_apt 180 install -y --no-install-recommends docker-cli
}

# Starts dockerd; returns when it answers. The tests need no network, so it creates no bridge and does not change the
# host's.
start_private_engine() {
  echo "docker: starting an engine for the tests in containers" >&2
  # A short path, as a Unix domain socket's has at most 107 bytes.
  engine_folder=$(mktemp -d "/tmp/dkXXXXXX")
  export DOCKER_HOST=unix://$engine_folder/sock
  # The engine uses neither the machine's configuration nor, in a containerd that is already running, another engine's
  # namespaces.
  echo '{}' >"$engine_folder/daemon.json"
  # In a session of its own, so that Ctrl-C does not reach it before stop_engine; it exits if this shell is killed.
  setsid setpriv --pdeathsig TERM dockerd --config-file "$engine_folder/daemon.json" \
    --containerd-namespace "${engine_folder##*/}" --containerd-plugins-namespace "${engine_folder##*/}-plugins" \
    --host "$DOCKER_HOST" --data-root "$engine_folder/data" \
    --exec-root "$engine_folder/exec" --pidfile "$engine_folder/pid" \
    --bridge=none --iptables=false --ip6tables=false --ip-forward=false \
    >"$engine_folder/log" 2>&1 </dev/null &
  engine_pid=$!
  local attempt
  for ((attempt = 0; attempt < 300; attempt++)); do
    # The package's client first: another one may be too new.
    PATH=/usr/bin:$PATH engine_answers && return 0
    kill -0 "$engine_pid" 2>/dev/null || break
    sleep 0.2
  done
  echo "docker: dockerd does not start; the end of its log:" >&2
  tail -n 20 "$engine_folder/log" >&2
  stop_engine
  return 1
}

# Provides an engine and sets DOCKER_HOST; fails with the reason if that is not possible.
start_engine() {
  PATH=$PATH:/usr/sbin:/sbin
  if ! engine_answers; then
    if [ "$(id -u)" -ne 0 ]; then
      echo "docker: no engine answers (docker info), and only root can start one" >&2
      return 1
    fi
    if ! command -v dockerd >/dev/null; then
      if ! command -v apt-get >/dev/null; then
        echo "docker: no engine answers (docker info), and dockerd is not installed" >&2
        return 1
      fi
      install_engine || { echo "docker: the package docker.io cannot be installed" >&2; return 1; }
    fi
    # With a service manager, the installation has started an engine.
    if ! engine_answers; then
      start_private_engine || return 1
    fi
  fi
  # Testcontainers does not support the client's contexts.
  if [ -z "${DOCKER_HOST:-}" ]; then
    DOCKER_HOST=$(docker context inspect --format '{{.Endpoints.docker.Host}}' 2>/dev/null) || DOCKER_HOST=
    if [ -n "$DOCKER_HOST" ]; then export DOCKER_HOST; else unset DOCKER_HOST; fi
  fi
}

# Stops the private engine and its containers, if there is one, and removes its files.
stop_engine() {
  [ -n "$engine_folder" ] || return 0
  local attempt
  kill -TERM "$engine_pid" 2>/dev/null || true
  for ((attempt = 0; attempt < 150; attempt++)); do
    kill -0 "$engine_pid" 2>/dev/null || break
    sleep 0.2
  done
  kill -KILL "$engine_pid" 2>/dev/null || true
  wait "$engine_pid" 2>/dev/null || true
  # Unmounts what a killed engine has left mounted, in reverse order.
  local place
  while read -r place; do
    umount -l "$place" || true
  done < <(awk -v folder="$engine_folder/" 'index($2, folder) == 1 { print $2 }' /proc/mounts | sort -r)
  rm -rf "$engine_folder"
  engine_folder='' engine_pid=''
}

# Removes the resources of a test run from an engine that keeps running: remove_labelled LABEL
remove_labelled() {
  docker ps -aq --filter "label=$1" | xargs -r docker rm -f >/dev/null
  docker volume ls -q --filter "label=$1" | xargs -r docker volume rm -f >/dev/null
  docker image ls -q --filter "label=$1" | xargs -r docker image rm -f >/dev/null
}
