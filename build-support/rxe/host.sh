# SPDX-License-Identifier: Apache-2.0
# Sourced by ./with-rxe: runs the command on this machine, with its RDMA device or a temporary software one.
# shellcheck shell=bash
# shellcheck disable=SC2154 # what with-rxe sets

sysfs=${FERRULE_RXE_SYSFS:-/sys}  # replaced by the selftest

why_not=     # why no device can be created
unused=()    # per port that cannot be used: why, and how to use it
device=      # its name
address=     # an IPv4 address on it
trouble=     # why look_at_port rejects a port
made_netdev=
loaded=

# Sets device and address if there is a device or one can be created. Otherwise explains why, as an error if there is no
# virtual machine as a fallback.
find_host_device() {
  local line made='' report=explain
  if [ "$wanted" ]; then
    take_wanted
  elif ! find_device; then
    ! make_host_device || made=yes
    [ "$where$made" != host ] || report=say
    for line in "${unused[@]}"; do "$report" "$line"; done
    [ "$made" ] || { "$report" "no usable RDMA device, and none can be created: $why_not"; return 1; }
  fi
  explain "the device is $device on this machine"
}

# Finds the first device with an active port with an address: nothing can be sent through any other.
find_device() {
  local port
  for port in "$sysfs"/class/infiniband/*/ports/*; do
    [ -e "$port" ] || break
    device=$(name_of_device "$port")
    if is_temporary "$port"; then
      unused+=("$device is not used: another run has made it, and removes it when it ends")
      continue
    fi
    ! look_at_port "$port" || return 0
    unused+=("$device is not used: $trouble; or use it regardless with --device $device")
  done
  return 1
}

# Returns whether the port is one that add_host_device has made.
is_temporary() { netdevs_of_port "$1" | grep -qx 'ferrule[0-9]*'; }

# Uses the device named by the user, in any state.
take_wanted() {
  local port
  device=$wanted
  [ -d "$sysfs/class/infiniband/$device/ports" ] || { say "no RDMA device $device on this machine"; exit 1; }
  for port in "$sysfs/class/infiniband/$device"/ports/*; do
    ! look_at_port "$port" || return 0
  done
  say "$device may not work: $trouble"
}

# Sets address, and trouble if nothing can be sent through the port.
look_at_port() {
  local port=$1 state='' netdev netdevs
  read -r state <"$port/state"
  mapfile -t netdevs < <(netdevs_of_port "$port")
  address=
  for netdev in "${netdevs[@]}"; do
    ! address=$(first_address "$netdev") || break
  done
  netdev=${netdevs[0]:-}
  trouble="its port ${port##*/} "
  if [[ $state != *ACTIVE* ]]; then
    trouble+="is ${state#*: }, not ACTIVE; connect it${netdev:+, or: ip link set $netdev up}"
  elif [ -z "$netdev" ]; then
    trouble+="has no network device for an IPv4 address; for InfiniBand: modprobe ib_ipoib"
  elif ! command -v ip >/dev/null; then
    trouble+="cannot be checked for an address without iproute2; install it"
  elif [ -z "$address" ]; then
    trouble+="has no IPv4 address; add one: ip address add ADDRESS/PREFIX dev $netdev"
  else
    trouble=
  fi
  [ -z "$trouble" ]
}

# Prints the network devices of the port's GIDs; with IPoIB the GIDs name none, so also those of the card.
netdevs_of_port() {
  local port=$1 ports netdev number
  ports=("${port%/*}"/*)
  {
    # Not every GID of the table has one; reading the others fails.
    cat "$port"/gid_attrs/ndevs/* || true
    for netdev in "${port%/ports/*}"/device/net/*; do
      [ -e "$netdev" ] || break
      # dev_port counts from 0, and arbitrarily if each port is a card of its own.
      number=$(cat "$netdev/dev_port") || number=0
      [ ${#ports[@]} -gt 1 ] && [ $((number + 1)) != "${port##*/}" ] || echo "${netdev##*/}"
    done
  } 2>/dev/null | awk 'NF && !seen[$0]++'
}

name_of_device() {
  local path=${1%/ports/*}
  echo "${path##*/}"
}

first_address() {
  [ "$1" ] && ip -4 -o address show dev "$1" 2>/dev/null | sed -n 's/.* inet \([0-9.]*\).*/\1/p' | head -n 1 | grep .
}

# Creates a Soft-RoCE device on a new pair of interfaces. Other runs do the same, hence the lock.
make_host_device() {
  [ "$(id -u)" -eq 0 ] || { why_not="only root can create one"; return 1; }
  { command -v ip && command -v rdma; } >/dev/null || { why_not="iproute2 is missing"; return 1; }
  local code=0
  {
    take_lock 8 "the software device"
    add_host_device || code=1
  } 8>"$cache/host.lock"
  [ "$code" -ne 0 ] || return 0
  [ -z "$made_netdev" ] || remove_host_device
  return 1
}

add_host_device() {
  if [ ! -d "$sysfs/module/rdma_rxe" ]; then
    modprobe rdma_rxe 2>/dev/null || { why_not="the kernel has no rdma_rxe"; return 1; }
    loaded=yes
  fi
  made_netdev=ferrule$$
  device=rxe$$
  address=$(free_address)
  trap 'remove_host_device; rm -rf -- "$run"' EXIT
  if {
    ip link add "$made_netdev" type veth peer name "${made_netdev}p" && ip link set "${made_netdev}p" up \
      && ip link set "$made_netdev" up && ip address add "$address/24" dev "$made_netdev" \
      && rdma link add "$device" type rxe netdev "$made_netdev"
  } 2>"$run/host.log"; then
    return 0
  fi
  why_not="$(tail -n 1 "$run/host.log")"
  return 1
}

# Prints an address in an unused network: two runs whose process ids differ by 250 would have the same one.
free_address() {
  local number=$(($$ % 250 + 1)) tries used
  used=$(ip -4 -o address show 2>/dev/null) || true
  for ((tries = 0; tries < 250; tries++)); do
    [[ $used = *" 10.77.$number."* ]] || break
    number=$((number % 250 + 1))
  done
  echo "10.77.$number.1"
}

# The module stays as long as another run has a device: unloading it removes all devices, including unused ones.
remove_host_device() {
  {
    flock 8
    rdma link delete "$device" 2>/dev/null || true
    ip link delete "$made_netdev" 2>/dev/null || true
    [ -z "$loaded" ] || compgen -G "$sysfs/devices/virtual/infiniband/*" >/dev/null \
      || modprobe -r rdma_rxe 2>/dev/null || true
  } 8>"$cache/host.lock"
}

# Runs the command; sets result. It runs in the background so that signals can be forwarded; env restores the signal
# handling that a shell changes for background processes.
run_on_host() {
  local pid signal='' started_at=$SECONDS
  ulimit -l unlimited 2>/dev/null || true
  environment+=("FERRULE_RXE_DEVICE=$device" "FERRULE_RXE_ADDRESS=$address")
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
    say "time limit of $time_limit s exceeded"
    result=124
  fi
}
