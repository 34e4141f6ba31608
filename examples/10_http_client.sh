#!/bin/bash
# SPDX-License-Identifier: MIT
# 10_http_client.sh BIN: the client example against the server example, which must end in order when it is told to.
set -euo pipefail
log=$(mktemp)
"$1/09_http_server" localhost:0/mcp 2>"$log" &
server=$!
trap 'kill -KILL "$server" 2>/dev/null || true; rm -f "$log"' EXIT
until url=$(sed -n 's/^comcp: serving at //p' "$log") && [[ -n $url ]]; do
    kill -0 "$server" # fails when it has ended
    read -rt 0.05 <> <(:) || true
done
said=$("$1/10_http_client" "$url")
echo "$said"
[[ $said == *"Hello, Ada!!!"* ]]
kill -TERM "$server"
wait "$server"
