# SPDX-License-Identifier: Apache-2.0
# Sourced by ./with-rxe: runs the command on this machine, with its own RDMA device or one that is made for it.
# shellcheck shell=bash
# shellcheck disable=SC2154 # what with-rxe sets

why_not=     # why there is no device here
device=      # its name
address=     # an IPv4 address on it
made_netdev=
loaded=

# Sets device and address if there is a device or one can be made; sets why_not otherwise.
find_host_device() {
  find_device || make_host_device || { explain "not on this machine: $why_not"; return 1; }
  explain "the device is $device on this machine"
}

# The first device with a port that is up and has an address; else the first one.
find_device() {
  local port netdev state
  for port in /sys/class/infiniband/*/ports/*; do
    [ -e "$port" ] || break
    read -r state <"$port/state"
    netdev=$(cat "$port/gid_attrs/ndevs/0" 2>/dev/null) || netdev=
    if [[ $state = *ACTIVE* ]] && address=$(first_address "$netdev"); then
      device=$(name_of_device "$port")
      return 0
    fi
    device=${device:-$(name_of_device "$port")}
  done
  address=
  [ "$device" ]
}

name_of_device() {
  local path=${1%/ports/*}
  echo "${path##*/}"
}

first_address() {
  [ "$1" ] && ip -4 -o address show dev "$1" 2>/dev/null | sed -n 's/.* inet \([0-9.]*\).*/\1/p' | head -n 1 | grep .
}

# A Soft-RoCE device on a pair of interfaces that has no other use.
make_host_device() {
  local number=$(($$ % 250 + 1))
  [ "$(id -u)" -eq 0 ] || { why_not="it has no RDMA device, and only root can make one"; return 1; }
  { command -v ip && command -v rdma; } >/dev/null || { why_not="iproute2 is missing"; return 1; }
  if [ ! -d /sys/module/rdma_rxe ]; then
    modprobe rdma_rxe 2>/dev/null || { why_not="its kernel has no rdma_rxe"; return 1; }
    loaded=yes
  fi
  made_netdev=ferrule$$
  device=rxe$$
  address=10.77.$number.1
  trap 'remove_host_device; rm -rf -- "$run"' EXIT
  if {
    ip link add "$made_netdev" type veth peer name "${made_netdev}p" && ip link set "${made_netdev}p" up \
      && ip link set "$made_netdev" up && ip address add "$address/24" dev "$made_netdev" \
      && rdma link add "$device" type rxe netdev "$made_netdev"
  } 2>"$run/host.log"; then
    return 0
  fi
  why_not="no device can be made: $(tail -n 1 "$run/host.log")"
  remove_host_device
  return 1
}

remove_host_device() {
  rdma link delete "$device" 2>/dev/null || true
  ip link delete "$made_netdev" 2>/dev/null || true
  # Somebody else may use it by now; then this does nothing.
  [ -z "$loaded" ] || modprobe -r rdma_rxe 2>/dev/null || true
}

# Runs the command; sets result. It is in the background so that we can pass signals on, and env undoes what a shell
# does to what it starts there.
run_on_host() {
  local pid signal='' started_at=$SECONDS
  ulimit -l unlimited 2>/dev/null || true
  environment+=("FERRULE_RXE_DEVICE=$device")
  [ -z "$address" ] || environment+=("FERRULE_RXE_ADDRESS=$address")
  env --default-signal=INT,QUIT -i "${environment[@]}" \
    "$(command -v timeout)" --foreground --kill-after=10 "$time_limit" "${command[@]}" <&0 &
  pid=$!
  trap 'signal=INT; kill -INT $pid' INT
  trap 'signal=TERM; kill -TERM $pid' TERM
  trap 'signal=HUP; kill -HUP $pid' HUP
  while kill -0 "$pid" 2>/dev/null; do
    result=0
    wait "$pid" || result=$?
  done
  if [ "$signal" ]; then
    result=$((128 + $(kill -l "$signal")))
  elif [ $((SECONDS - started_at)) -ge "$time_limit" ] && [[ $result =~ ^(124|137)$ ]]; then
    say "the time limit of $time_limit s has passed"
    result=124
  fi
}
