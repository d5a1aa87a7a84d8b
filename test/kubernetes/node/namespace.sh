#!/bin/bash
# Runs a command in network, mount and process namespaces of its own, so that all it starts, mounts and configures goes
# when it ends, however that is. Its standard input tells it when to end.
# namespace.sh STATE COMMAND...: STATE is a folder that is removed before and after; one node runs at a time.
set -u
state=$1
shift

exec 9>"$state.lock"
flock --nonblock 9 || { echo 'another node is running' >&2; exit 1; }

# Every hierarchy of version 1, or the only one of version 2.
hierarchies() {
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then echo /sys/fs/cgroup
  else printf '%s\n' /sys/fs/cgroup/*/; fi
}
clean() {
  local hierarchy
  for hierarchy in $(hierarchies); do
    find "$hierarchy/postern-kubernetes" -depth -type d -exec rmdir {} + 2>/dev/null
  done
  rm -rf --one-file-system "$state"
}

clean
mkdir -p "$state"
for hierarchy in $(hierarchies); do mkdir -p "$hierarchy/postern-kubernetes"; done
# Process 1 waits for the command, and for whatever loses its parent.
exec 3<&0
unshare --net --mount --pid --fork --kill-child --mount-proc --propagation private \
  bash -c '"$@" <&3 3<&- & wait "$!"' bash "$@" 9>&-
code=$?
clean
exit "$code"
