#!/bin/sh
# build/try-archive.sh FILE: unpacks an archive of this machine's kind, starts it in an empty folder, and adds a user there.
set -eu
archive=$(readlink -f -- "$1")
folder=$(mktemp -d)
cd "$folder"
tar -xzf "$archive"
postern=$(echo "$folder"/postern-*/postern)
"$postern" serve --upstream builtin:echo --listen 127.0.0.1:18080 &
trap 'kill $!; wait $! || true; rm -rf "$folder"' EXIT
for _ in $(seq 100); do
  if curl --fail --silent --output /dev/null http://127.0.0.1:18080/postern/sign-in; then
    echo 'correct horse battery staple' | "$postern" user add ada
    "$postern" user list | grep ada
    exit 0
  fi
  sleep 0.1
done
echo "$archive did not start" >&2
exit 1
