#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Puts the newest packaged Asio, Boost and Catch2 into build/matrix/usr, for the presets newest and newest-boost-asio.
# Nothing is installed: packages of Debian's suite sid are unpacked, from the mirror that apt has here, with lists and a
# cache of their own. Catch2 is compiled from its source package, because the packaged library needs a newer libstdc++.
# What was unpacked within the last 30 days is kept. Prints the versions; if it cannot be done, says why and returns 1.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

folder=$PWD/build/matrix
versions=$folder/versions
if [[ -n $(find "$versions" -mtime -30 2>/dev/null) ]]; then
    cat "$versions"
    exit
fi

give_up()
{
    echo "$1"
    exit 1
}

for program in apt-get dpkg-deb; do
    command -v $program >/dev/null || give_up "needs Debian's packages, and this system has no $program"
done

rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/packages"
log=$folder/log
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
options=(
    -o "Dir::Etc::SourceList=$folder/apt/sources.list" -o Dir::Etc::SourceParts=-
    -o "Dir::State::Lists=$folder/apt/lists" -o "Dir::Cache=$folder/apt/cache" -o "Dir::State::status=/dev/null"
    -o "APT::Sandbox::User=$(id -un)" -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
)

# shellcheck disable=SC2016 # it is apt-get that expands $(REPO_URI)
mirrors=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | sort -u)
# Of all mirrors that apt knows, the first one with sid.
reached=
while read -r mirror; do
    origin="[$([[ -e $keyring ]] && echo "signed-by=$keyring")] $mirror sid main"
    printf '%s\n' "deb ${origin#\[\] }" "deb-src ${origin#\[\] }" >"$folder/apt/sources.list"
    if apt-get "${options[@]}" update -qq --error-on=any >>"$log" 2>&1; then
        reached=$mirror
        break
    fi
done <<<"$mirrors"
[[ -n $reached ]] || give_up "no mirror that apt has here gives Debian's suite sid (build/matrix/log)"

boost=$(apt-cache "${options[@]}" pkgnames libboost-json | sed -n 's/^libboost-json\([0-9.]*\)-dev$/\1/p' | grep '\.' | sort -V | tail -1)
[[ -n $boost ]] || give_up "no Boost.JSON package in Debian's suite sid"
(
    cd "$folder/packages"
    apt-get "${options[@]}" download libasio-dev "libboost$boost-dev" "libboost-json$boost-dev" "libboost-container$boost-dev"
    apt-get "${options[@]}" source --download-only catch2
) >>"$log" 2>&1 || give_up "the packages of Debian's suite sid cannot be fetched (build/matrix/log)"
for package in "$folder"/packages/*.deb; do dpkg-deb -x "$package" "$folder"; done

mkdir "$folder/catch2"
tar -xf "$folder"/packages/catch2_*.orig.tar.* -C "$folder/catch2" --strip-components=1
{
    cmake -G Ninja -S "$folder/catch2" -B "$folder/catch2/build" -DCMAKE_INSTALL_PREFIX="$folder/usr" \
        -DCMAKE_CXX_STANDARD=20 -DCMAKE_CXX_FLAGS=-O0 -DCMAKE_UNITY_BUILD=ON -DCATCH_INSTALL_DOCS=OFF &&
        cmake --build "$folder/catch2/build" --parallel "${COMCP_JOBS:-1}" &&
        cmake --install "$folder/catch2/build"
} >>"$log" 2>&1 || give_up "Catch2 does not build (build/matrix/log)"

asio=$(sed -n 's/^#define ASIO_VERSION \([0-9]*\).*/\1/p' "$folder/usr/include/asio/version.hpp")
catch2=$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)")/\1/p' "$folder"/usr/lib*/cmake/Catch2/Catch2ConfigVersion.cmake)
echo "Asio $((asio / 100000)).$((asio / 100 % 1000)), Boost $boost, Catch2 $catch2" >"$versions"
rm -rf "$folder/apt" "$folder/packages" "$folder/catch2"
cat "$versions"
