#!/usr/bin/env bash
# Starts a real S3-compatible server on loopback: OpenStack Swift with its S3 interface, from Debian's packages. Takes an
# empty folder, prints what SPILLWAY_TEST_S3 needs, and leaves the ids of its processes in the folder's file "pids".
#   apt-get install --no-install-recommends swift-proxy swift-account swift-container swift-object memcached
set -euo pipefail
dir=$1
port=${2:-18080}
# Swift would share a port with another Swift, and each would have half of the objects.
if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
  echo "port $port is taken: name another as the second argument" >&2
  exit 1
fi
mkdir -p "$dir/etc" "$dir/srv/sdb1" "$dir/log"

# Swift reads this one file wherever its other files are.
mkdir -p /etc/swift
[ ! -f /etc/swift/swift.conf ] || [ -f /etc/swift/swift.conf.before-spillway ] ||
  cp /etc/swift/swift.conf /etc/swift/swift.conf.before-spillway
printf '[swift-hash]\nswift_hash_path_suffix = test\nswift_hash_path_prefix = test\n[storage-policy:0]\nname = gold\ndefault = yes\n[swift-constraints]\n' >/etc/swift/swift.conf

# On a slow machine its parts would give each other up after half a second, and lists would miss what was stored.
patience="conn_timeout = 120
node_timeout = 120
container_update_timeout = 120
error_suppression_limit = 1000000"

part() { # name, port
  cat >"$dir/etc/$1-server.conf" <<CONF
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $2
workers = 0
user = root
swift_dir = $dir/etc
devices = $dir/srv
mount_check = false
log_level = WARNING
[pipeline:main]
pipeline = $1-server
[app:$1-server]
use = egg:swift#$1
$patience
CONF
  (cd "$dir/etc" && swift-ring-builder "$1.builder" create 4 1 1 && swift-ring-builder "$1.builder" add \
    "r1z1-127.0.0.1:$2/sdb1" 1 && swift-ring-builder "$1.builder" rebalance) >>"$dir/log/rings" 2>&1
}
part account $((port + 3)) && part container $((port + 2)) && part object $((port + 1))
cat >"$dir/etc/proxy-server.conf" <<CONF
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $port
workers = 0
user = root
swift_dir = $dir/etc
log_level = WARNING
[pipeline:main]
pipeline = catch_errors cache s3api tempauth copy slo dlo versioned_writes proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
$patience
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:$((port + 4))
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
s3_acl = false
allow_multipart_uploads = true
min_segment_size = 5242880
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
[filter:versioned_writes]
use = egg:swift#versioned_writes
CONF

run() {
  setsid "$@" >>"$dir/log/$(basename "$1")" 2>&1 </dev/null &
  echo $! >>"$dir/pids"
}
run memcached -l 127.0.0.1 -p $((port + 4)) -u nobody
for name in account container object proxy; do run "swift-$name-server" "$dir/etc/$name-server.conf"; done
for _ in $(seq 100); do
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
    echo "s3://spillway-test?endpoint=http://127.0.0.1:$port&region=us-east-1"
    exit 0
  fi
  sleep 0.2
done
echo "Swift does not answer; see $dir/log" >&2
exit 1
