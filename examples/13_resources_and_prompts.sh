#!/bin/bash
# SPDX-License-Identifier: MIT
# 13_resources_and_prompts.sh BIN: a note that is there, one that is not, a completion and a prompt.
set -euo pipefail
said=$("$1/13_resources_and_prompts" <<'EOF'
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"note://shopping/2"}}
{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"note://shopping/3"}}
{"jsonrpc":"2.0","id":4,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"summarize"},"argument":{"name":"topic","value":"sh"}}}
{"jsonrpc":"2.0","id":5,"method":"prompts/get","params":{"name":"summarize","arguments":{"topic":"shopping"}}}
EOF
)
echo "$said"
[[ $said == *'"text":"bread"'* ]]
[[ $said == *'"code":-32002'* ]]
[[ $said == *'"values":["shipping","shopping"]'* ]]
[[ $said == *'Sum this up:\n- milk\n- bread'* ]]
