#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the servers on the Go SDK and on rmcp into build/bench-peers, where benchmarks/run.py looks for them. Those
# whose tool chain is not there, or that do not build, are left out.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=$here/../../../build/bench-peers
mkdir -p "$into"
into=$(cd "$into" && pwd)

if command -v go > /dev/null; then
    if (cd "$here/go" && go build -trimpath -mod=readonly -o "$into/go-sdk" .); then
        echo "built $into/go-sdk"
    else
        echo "skipped go-sdk: go could not build it"
    fi
else
    echo "skipped go-sdk: there is no go on the PATH"
fi

if command -v cargo > /dev/null; then
    if cargo build --release --locked --quiet --manifest-path "$here/rust/Cargo.toml" --target-dir "$into/cargo"; then
        cp "$into/cargo/release/rmcp" "$into/rmcp"
        echo "built $into/rmcp"
    else
        echo "skipped rmcp: cargo could not build it"
    fi
else
    echo "skipped rmcp: there is no cargo on the PATH"
fi
