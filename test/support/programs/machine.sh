#!/bin/bash
# Stands in for a program that changes the machine, as the documents' commands call it; its name is the program's. $MACHINE is
# the folder in place of /. Each call is a line of $MACHINE/calls.
set -eu
program=$(basename "$0")
# The command `postern` passes no environment on.
MACHINE=${MACHINE:-$(dirname "$(dirname "$0")")}
echo "$program $*" >> "$MACHINE/calls"

# Lines of a unit, systemd's specifiers resolved.
unit() { sed 's/%%/%/g' "$MACHINE/etc/systemd/system/$1"; }
setting() { unit "$1" | sed -n "s/^$2=//p"; }

start() {
  local management
  setsid sh -c "exec $(setting postern.service ExecStart)" >> "$MACHINE/journal" 2>&1 &
  echo $! > "$MACHINE/pid"
  management=$(sed -n 's/^management: { host: \(.*\), port: \(.*\) }/\1 \2/p' "$MACHINE/etc/postern/postern.yaml")
  MAINPID=$! sh -c "$(setting postern.service ExecStartPost | sed "s/127.0.0.1 9090/$management/")"
}

# Ends the process of that file, if there is one.
stop() {
  [ -e "$1" ] || return 0
  kill "$(cat "$1")" 2>/dev/null || true
  while kill -0 "$(cat "$1")" 2>/dev/null; do sleep 0.1; done
  rm "$1"
}

case $program in
  useradd | apt-get | chown) ;;
  runuser) shift 3; exec "$@" ;;
  install)
    # As anyone: owners and groups are left out.
    kept=()
    while [ $# -gt 0 ]; do case $1 in -o | -g) shift 2 ;; *) kept+=("$1"); shift ;; esac; done
    exec /usr/bin/install "${kept[@]}" ;;
  certbot)
    if [ -n "${ACME:-}" ]; then
      folders=(--config-dir "$MACHINE/etc/letsencrypt" --work-dir "$MACHINE/certbot" --logs-dir "$MACHINE/certbot")
      exec "$CERTBOT" "$@" "${folders[@]}" --server "$ACME" --no-verify-ssl --http-01-port "$HTTP_PORT"
    fi
    hook=$(sed -n 's/.*--deploy-hook \([^ ]*\).*/\1/p' <<< "$*")
    export RENEWED_LINEAGE=$MACHINE/etc/letsencrypt/live/stock.example.com
    mkdir -p "$RENEWED_LINEAGE"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 9 -subj /CN=stock.example.com \
      -addext subjectAltName=DNS:stock.example.com,DNS:console.stock.example.com \
      -keyout "$RENEWED_LINEAGE/privkey.pem" -out "$RENEWED_LINEAGE/fullchain.pem" 2>/dev/null
    "$hook" ;;
  curl)
    # The names lead here, as they would by DNS: through Caddy where it is there (it takes a moment to get its certificate).
    if [ -n "${ACME:-}" ]; then
      exec /usr/bin/curl --retry 30 --retry-delay 1 --retry-all-errors --cacert "$ACME_ROOT" \
        --connect-to "stock.example.com:443:127.0.0.1:$HTTPS_PORT" "$@"
    fi
    case $* in *https://stock.example.com*) set -- -H 'Host: stock.example.com' -H 'X-Forwarded-Proto: https' "$@" ;; esac
    for word; do shift; set -- "$@" "${word/https:\/\/stock.example.com/http:\/\/127.0.0.1:$PORT}"; done
    exec /usr/bin/curl "$@" ;;
  systemctl)
    verb=$1; shift
    [ "${1:-}" != --now ] || shift
    for name; do
      case $verb:$name in
        reload:caddy)
          [ -n "${ACME:-}" ] || continue
          {
            printf '{\n admin off\n http_port %s\n https_port %s\n acme_ca %s\n acme_ca_root %s\n storage file_system %s\n}\n' \
              "$HTTP_PORT" "$HTTPS_PORT" "$ACME" "$ACME_CERT" "$MACHINE/caddy"
            cat "$MACHINE/etc/caddy/Caddyfile"
          } > "$MACHINE/Caddyfile"
          setsid "$CADDY" run --config "$MACHINE/Caddyfile" --adapter caddyfile > "$MACHINE/caddy.log" 2>&1 &
          echo $! > "$MACHINE/caddy.pid" ;;
        stop:caddy) stop "$MACHINE/caddy.pid" ;;
        enable:*.timer) [ -e "$MACHINE/etc/systemd/system/$name" ] ;;
        enable:postern | start:postern) start ;;
        stop:postern) stop "$MACHINE/pid" ;;
        restart:postern) stop "$MACHINE/pid"; start ;;
        start:postern-backup)
          export STATE_DIRECTORY=$MACHINE/var/lib/postern-backup
          mkdir -p "$STATE_DIRECTORY"
          sh -ec "$(setting postern-backup.service ExecStart)"
          sh -ec "$(setting postern-backup.service ExecStartPost)" ;;
        *) echo "systemctl $verb $name?" >&2; exit 1 ;;
      esac
    done ;;
  *) echo "no stand-in for $program" >&2; exit 1 ;;
esac
