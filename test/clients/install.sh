#!/usr/bin/env bash
# Installs what the tests of this folder run, into node_modules/.cache/clients: linters, generators and Swagger UI from
# npm, the validators, generator and Schemathesis from PyPI, actionlint from Go's modules. What is missing is skipped, visibly.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=$PWD/node_modules/.cache/clients
mkdir -p "$cache"

cp .npmrc test/clients/package.json test/clients/package-lock.json "$cache/"
# One of the packages reports its installation to a third party unless its script stays off.
npm ci --prefix "$cache" --ignore-scripts --loglevel=error

if command -v python3 >/dev/null; then
  python3 -m venv "$cache/venv"
  "$cache/venv/bin/pip" install --quiet --disable-pip-version-check --requirement test/clients/requirements.txt
fi

# The one linter of workflows; its package at PyPI brings a program from elsewhere.
if command -v go >/dev/null; then
  GOBIN="$cache/go" go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
fi
