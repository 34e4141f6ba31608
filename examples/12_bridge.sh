#!/bin/bash
# SPDX-License-Identifier: MIT
# 12_bridge.sh BIN: a host's first line passes through the bridge to the server example behind a Unix socket, and when
# the host leaves the bridge does too.
set -euo pipefail
folder=$(mktemp -d)
url="http://unix:$folder/app.sock:/mcp"
"$1/09_http_server" "$url" 2>"$folder/log" &
server=$!
trap 'kill -KILL "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
until grep -q "^comcp: serving at $url\$" "$folder/log"; do
    kill -0 "$server" # fails when it has ended
    read -rt 0.05 <> <(:) || true
done
said=$("$1/12_bridge" "$url" <<'EOF'
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}
EOF
)
echo "$said"
[[ $said == '{"jsonrpc":"2.0","id":1,"result":'*'"name":"greeter"'* ]]
if "$1/12_bridge" --unknown 2>"$folder/usage"; then exit 1; else [[ $? == 2 ]]; fi
grep -q '^usage: ' "$folder/usage"
kill -TERM "$server"
wait "$server"
[[ ! -e $folder/app.sock ]]
