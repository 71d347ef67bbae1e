#!/bin/bash
# The real Nsight Systems CLI 2023.4.4 for tests, on Debian 12 as root; no GPU is needed.
#
#   .ci/install_nsys.sh [PREFIX]        default /opt/nsight-systems; PREFIX/bin/nsys is the command
#
# Debian 13 has it in non-free. Its packages are unpacked, not installed: they ask for newer
# libraries than Debian 12 has and do not use them.
set -euo pipefail

prefix=${1:-/opt/nsight-systems}
release=trixie
packages=(nsight-systems nsight-systems-target)
# What the report importer links beyond its own libraries.
libraries=(libssh-4 libglib2.0-0 libgssapi-krb5-2 libpfm4 libcurl4)
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

say() { echo "install_nsys: $*" >&2; }

if "$prefix/bin/nsys" --version 2>/dev/null; then
  exit 0
fi
[ "$(id -u)" = 0 ] || { say "needs root for apt-get and $prefix"; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Where this machine's apt takes Debian from.
mirror() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -E '/debian/?$' | head -n 1
}

# apt with its own sources and its own cache: the machine's configuration stays as it is.
private_apt() {
  apt-get -qq \
    -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" \
    -o APT::Sandbox::User=root "$@"
}

say "libraries of the importer"
apt-get -qq update
DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${libraries[@]}" >/dev/null

uri=$(mirror || true)
[ -n "$uri" ] || { say "apt has no Debian mirror configured"; exit 1; }
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/root"
echo "deb [signed-by=$keyring] $uri $release non-free" >"$work/sources.list"

say "${packages[*]} from $release"
private_apt update
(cd "$work" && private_apt download "${packages[@]}")
for package in "$work"/*.deb; do
  dpkg-deb --extract "$package" "$work/root"
done

# Debian splits the tree; nsys looks for its importer beside its own directory.
unpacked=$work/root/usr/lib
rm -rf "$prefix"
mkdir -p "$prefix/bin"
mv "$unpacked/x86_64-linux-gnu/nsight-systems/target-linux-x64" "$unpacked/nsight-systems/host-linux-x64" "$prefix/"
for half in target host; do
  mkdir -p "$prefix/$half-linux-x64/python/lib"
  cp -L --remove-destination "$work"/root/usr/lib/python3/dist-packages/*.py "$prefix/$half-linux-x64/python/lib/"
done
# The package points to the libssh of Debian 13, and nothing here needs the graphical part.
ln -sf "$(ldconfig -p | awk '/libssh\.so\.4 / { print $NF; exit }')" "$prefix/host-linux-x64/libssh.so.4"
rm -f "$prefix"/host-linux-x64/libQt6WebEngine* "$prefix"/host-linux-x64/nsys-ui*
ln -s ../target-linux-x64/nsys "$prefix/bin/nsys"

"$prefix/bin/nsys" --version
"$prefix/host-linux-x64/QdstrmImporter" --version >/dev/null || { say "the importer does not run"; exit 1; }
