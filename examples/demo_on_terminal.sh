#!/bin/bash
# SPDX-License-Identifier: MIT
# demo_on_terminal.sh BIN: on a terminal the demonstration draws its progress as bars, each in its place.
set -euo pipefail
said=$(script -qec "COMCP_DEMO_FILESYSTEM= $1/demo" /dev/null </dev/null)
full=$(printf '#%.0s' {1..40})
for name in include tests examples "client 1" "client 2"; do
    grep -qF $'\r\e[K  ['"$full] $name" <<<"$said"
done
grep -qF $'\e[3A\r\e[K  [' <<<"$said" # up to the first of three bars, which is drawn anew
grep -q "cancelled, and the server was told" <<<"$said"
