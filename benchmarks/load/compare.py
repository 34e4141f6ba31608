#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Load several MCP servers in turn with the same calls and print medians beside two floors.

  compare.py [--bin DIR] [--reps 3] [--only small-w1,...] stdio NAME='COMMAND ...' [NAME='COMMAND ...' ...]
  compare.py [--bin DIR] [--reps 3] [--only small-c1,...] http  NAME='COMMAND ... PORT' [...]   PORT is replaced
  NAME ending in -2026 is driven in the stateless form.

Both floors (rawpeer: no JSON work; floor: Asio coroutine loop with Boost.JSON) run beside the servers, interleaved,
pinned with taskset to one core (the only mode that repeats: see README.md), and every figure is also given as the ratio
to them within the same repetition. Each server needs a tool `echo` with arguments {"text": string} that returns it as text.
Loopback only; every run is bounded. --json prints one JSON object a line instead of the table.
"""
import argparse, json, os, shlex, statistics, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
STDIO = {"small-w1": (50000, []), "small-w64": (300000, ["-w", "64"]), "64k-w1": (4000, ["-s", "65536"]),
         "1m-w1": (300, ["-s", "1048576"]), "64k-esc-w1": (3000, ["-s", "65536", "--text", "escapes"])}
HTTP = {"small-c1": (20000, ["-c", "1"]), "small-c64": (80000, ["-c", "64"]), "64k-c1": (4000, ["-s", "65536"]),
        "1m-c1": (300, ["-s", "1048576"])}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("mode", choices=["stdio", "http"])
    ap.add_argument("peers", nargs="+")
    ap.add_argument("--bin", default=HERE, help="folder of mcpload, rawpeer and floor")
    ap.add_argument("--reps", type=int, default=3)
    ap.add_argument("--only", default="")
    ap.add_argument("--scale", type=float, default=1.0, help="multiply the number of calls (slow peers: 0.05)")
    ap.add_argument("--cpu", default="1", help="core to pin to; empty: not pinned")
    ap.add_argument("--json", action="store_true")
    a = ap.parse_args()
    tool = lambda n: os.path.join(a.bin, n)
    peers = {"raw-c": [tool("rawpeer"), "stdio"] if a.mode == "stdio" else [tool("rawpeer"), "http", "PORT"],
             "floor": [tool("floor"), "coro"] if a.mode == "stdio" else [tool("floor"), "http", "PORT"]}
    for p in a.peers:
        name, _, cmd = p.partition("=")
        peers[name] = shlex.split(cmd)
    scen = STDIO if a.mode == "stdio" else HTTP
    keep = [s for s in a.only.split(",") if s] or list(scen)
    pin = ["taskset", "-c", a.cpu] if a.cpu else []
    rows, port = {}, 19200 + os.getpid() % 2000
    for rep in range(a.reps):
        for s in keep:
            n, extra = scen[s]
            n = max(20, int(n * a.scale))
            for name, cmd in peers.items():
                port += 1
                cmd = [c.replace("PORT", str(port)) for c in cmd]
                full = pin + [tool("mcpload"), a.mode, "--json", "-n", str(n), "--warmup", str(n // 5)] + extra
                if name.endswith("-2026"):
                    full.append("--stateless")
                full += ["--"] + cmd if a.mode == "stdio" else [f"http://127.0.0.1:{port}/mcp", "--"] + cmd
                p = subprocess.run(full, capture_output=True, text=True, timeout=300)
                try:
                    r = json.loads(p.stdout.strip().splitlines()[-1])
                except Exception:
                    r = {"failed": (p.stderr or p.stdout)[-300:]}
                r.update(rc=p.returncode, rep=rep, scenario=s, peer=name)
                rows.setdefault(s, {}).setdefault(name, []).append(r)
    med = statistics.median
    bad = 0
    for s, by in rows.items():
        if not a.json:
            print(f"\n{a.mode} {s}\n{'peer':24}{'calls/s':>12}{'p50 us':>10}{'p99 us':>10}{'cpu us/call':>12}{'peak MiB':>10}"
                  f"{'/raw-c':>8}{'/floor':>8}{'p50/floor':>10}")
        ref = {k: {r["rep"]: r for r in by[k] if "rps" in r} for k in ("raw-c", "floor")}
        for name, rs in by.items():
            ok = [r for r in rs if "rps" in r and r["rc"] == 0]
            if len(ok) < len(rs):
                bad += 1
                print(f"{name:24} FAILED {[(r['rc'], r.get('failed', r.get('errors'))) for r in rs if r not in ok]}", file=sys.stderr)
            if not ok:
                continue
            ratio = lambda k, f: med([r[f] / ref[k][r["rep"]][f] for r in ok if r["rep"] in ref[k]] or [0])
            out = dict(mode=a.mode, scenario=s, peer=name, calls_per_s=round(med([r["rps"] for r in ok])),
                       p50_us=round(med([r["p50_us"] for r in ok]), 1), p99_us=round(med([r["p99_us"] for r in ok]), 1),
                       cpu_us_per_call=round(med([r.get("peer_cpu_s", 0) / max(1, r.get("calls", 1)) * 1e6 for r in ok]), 2),
                       peak_mib=round(med([r.get("peer_hwm_kib", 0) for r in ok]) / 1024, 1),
                       rate_to_raw=round(ratio("raw-c", "rps"), 3), rate_to_floor=round(ratio("floor", "rps"), 3),
                       p50_to_floor=round(ratio("floor", "p50_us"), 2))
            if a.json:
                print(json.dumps(out), flush=True)
            else:
                print(f"{name:24}{out['calls_per_s']:12,}{out['p50_us']:10}{out['p99_us']:10}{out['cpu_us_per_call']:12}{out['peak_mib']:10}"
                      f"{out['rate_to_raw']:8}{out['rate_to_floor']:8}{out['p50_to_floor']:10}", flush=True)
    sys.exit(1 if bad else 0)


main()
