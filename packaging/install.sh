#!/bin/sh
# Installs gate from its archive: sh install.sh [--from DIR] [--prefix DIR]
#
# --from DIR    the folder that holds SHA256SUMS and the archives. Default: the folder of this
#               script, else the release that it belongs to
# --prefix DIR  where bin/ and share/ go. Default: $PREFIX, else ~/.local
#
# What fails leaves the prefix as it was. Exit code: 0 installed, 1 not.
set -eu
umask 022

# `packaging/build` writes the address of the release here, if it knows one.
releases=""

fail() {
  echo "install.sh: $*. Nothing was installed." >&2
  exit 1
}

from=""
prefix=${PREFIX:-${HOME:-}/.local}
while [ $# -gt 0 ]; do
  case $1 in
    --from | --prefix)
      [ $# -ge 2 ] && [ -n "$2" ] || fail "$1 needs a folder"
      if [ "$1" = --from ]; then from=$2; else prefix=$2; fi
      shift 2
      ;;
    -h | --help)
      sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *) fail "$1 is no option; the options are --from DIR and --prefix DIR" ;;
  esac
done
case $prefix in
  /*) ;;
  *) prefix=$PWD/$prefix ;;
esac

platform=$(uname -sm)
case $platform in
  "Linux x86_64" | "Linux amd64") target=x86_64-unknown-linux-gnu ;;
  "Linux aarch64" | "Linux arm64") target=aarch64-unknown-linux-musl ;;
  "Darwin arm64") target=aarch64-apple-darwin ;;
  "Darwin x86_64") target=x86_64-apple-darwin ;;
  *) fail "there is no archive for $platform; \`cargo install\` builds gate from its sources" ;;
esac
for tool in tar gzip mktemp; do
  command -v "$tool" >/dev/null || fail "the program $tool is missing"
done

# Everything happens in a folder on the prefix's own disk, so that the last step is a rename. Folders
# that were made for nothing go again.
made=""
work=""
clean() {
  [ -z "$work" ] || rm -rf "$work"
  echo "$made" | while read -r path; do
    [ -z "$path" ] || rmdir "$path" 2>/dev/null || :
  done
}
trap clean EXIT
trap 'exit 1' HUP INT TERM

folder() {
  if [ -d "$1" ]; then
    [ -w "$1" ] || fail "$1 cannot be written to"
    return
  fi
  folder "$(dirname "$1")"
  mkdir "$1" 2>/dev/null || fail "the folder $1 cannot be made"
  made="$1
$made"
}
folder "$prefix"
work=$(mktemp -d "$prefix/.gate-install.XXXXXX" 2>/dev/null) || fail "$prefix cannot be written to"

fetch() {
  if command -v curl >/dev/null; then
    curl -fsSL --proto '=https' -o "$work/$1" "$releases/$1" || fail "$releases/$1 cannot be loaded"
  elif command -v wget >/dev/null; then
    wget -q -O "$work/$1" "$releases/$1" || fail "$releases/$1 cannot be loaded"
  else
    fail "curl or wget is needed to load $releases/$1"
  fi
}
if [ -z "$from" ]; then
  here=$(dirname "$0")
  if [ -f "$here/SHA256SUMS" ]; then
    from=$here
  elif [ -n "$releases" ]; then
    fetch SHA256SUMS
    from=$work
  else
    fail "say with --from DIR where SHA256SUMS and the archives are"
  fi
fi
[ -f "$from/SHA256SUMS" ] || fail "$from holds no SHA256SUMS"

line=$(grep "  exit-gate-[^/]*-$target\.tar\.gz\$" "$from/SHA256SUMS" || :)
[ -n "$line" ] || fail "there is no archive for $platform in $from/SHA256SUMS"
[ "$(echo "$line" | wc -l)" -eq 1 ] || fail "$from/SHA256SUMS lists more than one archive for $platform"
expected=${line%% *}
archive=${line##* }
[ "$from" != "$work" ] || fetch "$archive"
[ -f "$from/$archive" ] || fail "the archive $from/$archive is missing"

if command -v sha256sum >/dev/null; then
  found=$(sha256sum <"$from/$archive")
elif command -v shasum >/dev/null; then
  found=$(shasum -a 256 <"$from/$archive")
else
  fail "sha256sum or shasum is needed to verify the archive"
fi
[ "${found%% *}" = "$expected" ] ||
  fail "$archive does not have the checksum in SHA256SUMS: load it again"

mkdir "$work/new"
tar -xzf "$from/$archive" -C "$work/new" 2>/dev/null || fail "$archive is damaged"
new=$work/new/${archive%.tar.gz}
[ -f "$new/bin/gate" ] || fail "$archive is damaged: it holds no bin/gate"
version=$("$new/bin/gate" --version 2>&1) ||
  fail "the program in $archive does not run on this machine: $version"

# The program comes last: if it is there, all of it is.
cd "$new"
find . ! -type d ! -path ./bin/gate | sed 's|^\./||' >"$work/files"
echo bin/gate >>"$work/files"
while read -r file; do
  folder "$(dirname "$prefix/$file")"
  [ ! -d "$prefix/$file" ] || fail "$prefix/$file is a folder"
done <"$work/files"
while read -r file; do
  mv -f "$file" "$prefix/$file" || fail "$prefix/$file cannot be written"
done <"$work/files"
made=""

echo "$version is installed: $prefix/bin/gate"
case :${PATH:-}: in
  *":$prefix/bin:"*) ;;
  *) echo "Add $prefix/bin to PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
