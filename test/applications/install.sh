#!/usr/bin/env bash
# Installs the applications and clients that the tests of this folder run, into node_modules/.cache/applications: programs
# from Debian where apt is there and may be used, packages from PyPI and npm, and, unless "ci" is the argument, what takes
# minutes: Thunderbird, davfs2, the environments of later/, and programs that are compiled from Go's modules and from crates. What
# is missing is skipped, visibly.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=$PWD/node_modules/.cache/applications
mkdir -p "$cache/bin"

# from_debian PACKAGE..., each with a program of its name.
from_debian() {
  local packages=()
  for name; do command -v "$name" >/dev/null || packages+=("$name"); done
  if ((${#packages[@]} > 0)) && command -v apt-get >/dev/null && [[ $(id -u) == 0 ]]; then
    apt-get update -qq
    # The services among them are not to start by themselves.
    local policy=/usr/sbin/policy-rc.d
    if [[ -e $policy ]]; then policy=; else install -m 755 <(printf '#!/bin/sh\nexit 101\n') "$policy"; fi
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
    rm -f $policy
  fi
}

# from_pypi ENVIRONMENT REQUIREMENTS: with uv, which takes a tenth of pip's CPU time.
from_pypi() {
  [[ -x $cache/uv/bin/pip ]] || python3 -m venv "$cache/uv"
  "$cache/uv/bin/pip" install --quiet --disable-pip-version-check uv==0.13.8
  # The tests run this environment's pip.
  [[ -x $cache/$1/bin/pip ]] || python3 -m venv "$cache/$1"
  "$cache/uv/bin/uv" pip install --quiet --python "$cache/$1/bin/python" --requirement "test/applications/$2"
}

from_npm() {
  cp .npmrc test/applications/package.json test/applications/package-lock.json "$cache/"
  npm ci --prefix "$cache" --ignore-scripts --loglevel=error
}

# All at once: each waits for the network most of the time.
from_debian cadaver docker-registry git prometheus prometheus-alertmanager rclone skopeo &
debian=$!
from_npm &
npm=$!
from_pypi venv requirements.txt
wait "$debian"
wait "$npm"
if [[ ${1:-} == ci ]]; then exit 0; fi

# Of `npm run example:hosts`.
node_modules/.bin/node --input-type=module -e '
  const { installApplications } = await import(process.cwd() + "/examples/many-hosts/applications.ts");
  installApplications("node_modules/.cache/example-hosts");
'

from_debian thunderbird
[[ -x /usr/sbin/mount.davfs ]] || from_debian davfs2
# An environment each: what they need of the same libraries doesn't agree.
for requirements in test/applications/later/*.txt; do
  environment=$cache/later/$(basename "$requirements" .txt)
  [[ -x $environment/bin/python ]] || "$cache/uv/bin/uv" venv --quiet "$environment"
  "$cache/uv/bin/uv" pip install --quiet --python "$environment/bin/python" --requirement "$requirements"
done
if command -v go >/dev/null && [[ ! -x $cache/bin/miniflux ]]; then
  GOBIN=$cache/bin/go go install miniflux.app/v2@v2.3.5
  mv "$cache"/bin/go/* "$cache/bin/miniflux"
fi
# Without the scripts of its pages, which another tool builds: forms do without.
if command -v go >/dev/null && [[ ! -x $cache/bin/gitea ]]; then
  gitea=$(mktemp -d)
  (cd "$gitea" && go mod init empty 2>/dev/null && go mod download code.gitea.io/gitea@v1.26.4)
  cp -r "$(go env GOMODCACHE)/code.gitea.io/gitea@v1.26.4/." "$gitea"
  chmod -R u+w "$gitea"
  (
    cd "$gitea"
    go generate -tags bindata ./modules/{migration,options,public,templates}
    go build -tags 'bindata sqlite sqlite_unlock_notify' -ldflags '-s -w' -o "$cache/bin/gitea" .
  )
  rm -rf "$gitea"
fi
if command -v cargo >/dev/null && [[ ! -x $cache/bin/dufs ]]; then
  cargo install --quiet --locked --root "$cache" dufs@0.47.0 || echo "SKIPPED: dufs can't be built here"
fi
