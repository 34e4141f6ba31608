# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the tools: makes sure that the programs and headers of a group are there.
#
#   comcp_setup build           compiler, CMake, Ninja, Asio, Boost, Catch2
#   comcp_setup build checks    also python3, clang, clang-format, clang-tidy, shellcheck, ccache
#   comcp_setup interop         Node.js with npm, Python with venv
#
# On Debian and Ubuntu, as root or through sudo, what is missing is installed; anywhere else it is named, and the
# function fails. What is there is found by command or file, so nothing is installed twice.

comcp_setup_missing=()

comcp_setup_need() # PACKAGE TEST...: notes the package if the test fails
{
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || comcp_setup_missing+=("$package")
}

comcp_setup_has() { command -v "$1"; }

comcp_setup_has_header() # PATH: in the usual places or in what the user tells the compiler
{
    local -a folders=(/usr/include /usr/local/include)
    local -a more=()
    IFS=: read -r -a more <<<"${CPLUS_INCLUDE_PATH:-}:${CPATH:-}"
    local folder
    for folder in "${folders[@]}" "${more[@]}"; do
        if [[ -n $folder && -e $folder/$1 ]]; then return 0; fi
    done
    return 1
}

comcp_setup_has_gcc12()
{
    local version
    version=$(g++ -dumpversion 2>/dev/null) || return 1
    ((${version%%.*} >= 12))
}

comcp_setup_has_file() # PATTERN...: one of the patterns names a file
{
    local pattern
    for pattern in "$@"; do
        if compgen -G "$pattern" >/dev/null; then return 0; fi
    done
    return 1
}

comcp_setup_has_boost_json()
{
    comcp_setup_has_header boost/json.hpp &&
        comcp_setup_has_file '/usr/lib/*/libboost_json.*' '/usr/lib*/libboost_json.*' '/usr/local/lib*/libboost_json.*'
}

comcp_setup_has_clang_runtime() # sanitizers and libFuzzer of clang 19
{
    comcp_setup_has_file '/usr/lib/llvm-19/lib/clang/19/lib/*/libclang_rt.fuzzer*.a' \
        '/usr/lib/clang/19/lib/*/libclang_rt.fuzzer*.a'
}

comcp_setup_boost_version() # the newest packaged Boost from 1.81 on that has JSON
{
    local version
    for version in 1.81 1.83 1.88 1.90; do
        if [[ -n $(apt-cache madison "libboost-json$version-dev" 2>/dev/null) ]]; then
            printf '%s' "$version"
            return 0
        fi
    done
    printf '1.81'
}

comcp_setup_collect() # GROUP
{
    case $1 in
    build)
        comcp_setup_need g++ comcp_setup_has_gcc12
        comcp_setup_need cmake comcp_setup_has cmake
        comcp_setup_need ninja-build comcp_setup_has ninja
        comcp_setup_need libasio-dev comcp_setup_has_header asio/awaitable.hpp
        comcp_setup_need libboost-dev comcp_setup_has_header boost/describe.hpp
        comcp_setup_need libboost-json-dev comcp_setup_has_boost_json
        comcp_setup_need catch2 comcp_setup_has_header catch2
        comcp_setup_need libcpp-httplib-dev comcp_setup_has_header httplib.h
        ;;
    checks)
        comcp_setup_need python3 comcp_setup_has python3
        comcp_setup_need clang-19 comcp_setup_has clang++-19
        comcp_setup_need clang-format-19 comcp_setup_has clang-format-19
        comcp_setup_need clang-tidy-19 comcp_setup_has clang-tidy-19
        comcp_setup_need libclang-rt-19-dev comcp_setup_has_clang_runtime
        comcp_setup_need shellcheck comcp_setup_has shellcheck
        comcp_setup_need ccache comcp_setup_has ccache
        ;;
    interop)
        comcp_setup_need nodejs comcp_setup_has node
        comcp_setup_need npm comcp_setup_has npm
        comcp_setup_need python3 comcp_setup_has python3
        comcp_setup_need python3-venv python3 -c 'import venv, ensurepip'
        ;;
    *)
        echo "setup: no group $1" >&2
        return 2
        ;;
    esac
}

comcp_setup_explain()
{
    echo "setup: missing: ${comcp_setup_missing[*]} (Debian's package names)" >&2
    echo "setup: $1" >&2
    echo "setup: needed are g++ 12 or newer, CMake 3.22, Ninja, standalone Asio 1.22, Boost 1.81 with JSON, Catch2;" >&2
    echo "setup: for the tests also Python 3, clang 19 with its runtime, clang-format and clang-tidy, shellcheck, ccache." >&2
    echo "setup: install them with your system's package manager and start again." >&2
}

comcp_setup() # GROUP...
{
    comcp_setup_missing=()
    local group
    for group in "$@"; do comcp_setup_collect "$group"; done
    if ((${#comcp_setup_missing[@]} == 0)); then return 0; fi

    if ! command -v apt-get >/dev/null; then
        comcp_setup_explain "this system has no apt-get, so nothing is installed for you."
        return 1
    fi
    local -a root=(env DEBIAN_FRONTEND=noninteractive)
    if (($(id -u) != 0)); then
        if ! command -v sudo >/dev/null; then
            comcp_setup_explain "not root and no sudo. As root: apt-get install ${comcp_setup_missing[*]}"
            return 1
        fi
        if [[ -t 0 ]]; then root=(sudo "${root[@]}"); else root=(sudo -n "${root[@]}"); fi
    fi

    echo "setup: reading the package lists"
    "${root[@]}" apt-get update -qq </dev/null || echo "setup: apt-get update failed; trying with the lists that are here" >&2
    local boost
    boost=$(comcp_setup_boost_version)
    local -a packages=()
    local name
    for name in "${comcp_setup_missing[@]}"; do
        case $name in
        libboost-dev) packages+=("libboost$boost-dev") ;;
        libboost-json-dev) packages+=("libboost-json$boost-dev") ;;
        *) packages+=("$name") ;;
        esac
    done
    echo "setup: installing ${packages[*]}"
    if ! "${root[@]}" apt-get install -y -qq --no-install-recommends "${packages[@]}" </dev/null; then
        comcp_setup_explain "apt-get could not install: ${packages[*]}"
        return 1
    fi

    comcp_setup_missing=()
    for group in "$@"; do comcp_setup_collect "$group"; done
    if ((${#comcp_setup_missing[@]} > 0)); then
        comcp_setup_explain "installed, and still not usable."
        return 1
    fi
}

comcp_jobs() # compile jobs: one a core, but at least 1.5 GiB of memory for each; COMCP_JOBS overrides
{
    if [[ -n ${COMCP_JOBS:-} ]]; then
        printf '%s' "$COMCP_JOBS"
        return
    fi
    local cores memory
    cores=$(nproc)
    memory=$(awk '/MemAvailable/ { print int($2 / 1572864) }' /proc/meminfo 2>/dev/null || echo 1)
    local jobs=$((memory < cores ? memory : cores))
    printf '%s' "$((jobs < 1 ? 1 : jobs))"
}
