#!/usr/bin/env bash
# Installs what the tests of this folder drive: servers from Debian where apt is there and may be used, Python packages
# into a virtual environment of their own (node_modules/.cache/upstreams/venv). Go 1.22 or later is whatever `go` is on
# the PATH. What is missing is skipped, visibly.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=$PWD/node_modules/.cache/upstreams

packages=()
command -v nginx >/dev/null || packages+=(nginx-light)
command -v haproxy >/dev/null || packages+=(haproxy)
command -v apache2 >/dev/null || packages+=(apache2)
command -v php-cgi >/dev/null || packages+=(php-cgi)
compgen -G '/usr/sbin/php-fpm*' >/dev/null || packages+=(php-fpm)
[[ -d /usr/share/php/Symfony/Component/HttpFoundation ]] || packages+=(php-symfony-http-foundation)
if ((${#packages[@]} > 0)) && command -v apt-get >/dev/null && [[ $(id -u) == 0 ]]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
fi

python3 -m venv "$cache/venv"
"$cache/venv/bin/pip" install --quiet --requirement test/upstreams/requirements.txt

# Proxies that ask for decisions (forward-auth-*.test.ts). Traefik builds only with the replacements of its own module.
if command -v go >/dev/null; then
  [[ -x $cache/caddy ]] || GOBIN=$cache go install github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9
  # A certificate authority for test/processes/getting-started.test.ts, and names for it.
  [[ -x $cache/pebble ]] || GOBIN=$cache go install github.com/letsencrypt/pebble/v2/cmd/{pebble,pebble-challtestsrv}@v2.10.3
  if [[ ! -x $cache/traefik ]]; then
    module=$(mktemp -d)
    version=v3.6.12
    source=$(cd "$module" && go mod download -json github.com/traefik/traefik/v3@$version | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
    sed 's#^module .*#module local/traefik#' "$source/go.mod" >"$module/go.mod"
    cp "$source/go.sum" "$module/go.sum"
    echo "require github.com/traefik/traefik/v3 $version" >>"$module/go.mod"
    echo 'package main; import _ "github.com/traefik/traefik/v3/pkg/version"; func main() {}' >"$module/main.go"
    (cd "$module" && GOFLAGS=-mod=mod go build -o "$cache/traefik" github.com/traefik/traefik/v3/cmd/traefik) ||
      echo "SKIPPED: Traefik can't be built here"
    rm -rf "$module"
  fi
fi
