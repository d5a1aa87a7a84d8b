#!/bin/sh
# Makes the secrets that compose.yaml names, in the folder `secrets`; those that are there stay. Only you can enter the
# folder. The files themselves can be read by all, because a container has them with their mode, as a user of its own.
set -eu
cd "$(dirname "$0")"
umask 022
[ -d secrets ] || mkdir -m 700 secrets
for name in postgres records sessions; do
  [ -s "secrets/$name" ] || openssl rand -hex 24 > "secrets/$name"
done
hash=$(printf %s "$(cat secrets/sessions)" | openssl dgst -sha256 -r | cut -d ' ' -f 1)
cat > secrets/redis_acl <<ACL
user default off
user acme on #$hash resetkeys resetchannels ~postern:acme:* &postern:acme:* -@all +client|setname +info +ping +time +subscribe +publish +eval +evalsha +del +exists +pexpireat +pttl +set +incrby +hdel +hgetall +hmget +hset +zadd +zscore +zcard +zcount +zrange +zrevrange +zrem +zremrangebyscore
ACL
