#!/usr/bin/env bash
# Installs what the tests of this folder drive: servers from Debian where apt is there and may be used, Python packages
# into a virtual environment of their own (node_modules/.cache/upstreams/venv). Go 1.22 or later is whatever `go` is on
# the PATH. What is missing is skipped, visibly.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=$PWD/node_modules/.cache/upstreams

packages=()
command -v nginx >/dev/null || packages+=(nginx-light)
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
