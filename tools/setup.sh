#!/usr/bin/env bash
# Makes .venv with fissile and everything its demo and tests need, and a Vulkan device where it can.
#
#   tools/setup.sh          (what `make setup`, `make demo`, `make test` and CMake call first)
#
# PYTHON=/path/to/python3   the interpreter to build .venv with   (default: the first one >= 3.11 on PATH)
# FISSILE_NO_APT=1          never install a Debian package
# FISSILE_IREE=3.12.0       another version of IREE than the newest that pyproject.toml allows, in .venv-iree-3.12.0
#
# A second run returns after 0.3 s: .venv/fissile.stamp holds a checksum of everything that decides the result.
# One line per step goes to the terminal, all output to build/setup.log.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
venv=$root/.venv${FISSILE_IREE:+-iree-$FISSILE_IREE}
stamp=$venv/fissile.stamp
log=$root/build/setup.log
PATH=${PATH//"$venv/bin:"/}  # an activated .venv is no Python to make .venv from

say() { printf 'set-up: %s\n' "$*"; }

fail() {  # fail MESSAGE [WAY-OUT]: the only way this script ends unsuccessfully
  printf 'set-up failed: %s\n' "$1" >&2
  if [ -n "${2:-}" ]; then printf '  %s\n' "$2" >&2; fi
  exit 1
}

logged() {  # logged COMMAND...: quiet on the terminal, everything in the log
  printf '\n$ %s\n' "$*" >>"$log"
  "$@" >>"$log" 2>&1 </dev/null
}

show_log() {
  printf '%s\n' "--- the last lines of build/setup.log" >&2
  tail -n 25 "$log" >&2
  printf '%s\n' "---" >&2
}

# What decides the result: the declared dependencies, this script, and the place (a venv does not move).
wanted_key() { { printf '%s\n' "$root" "${FISSILE_IREE:-}"; cat "$root/pyproject.toml" "${BASH_SOURCE[0]}"; } | cksum; }

is_current() {
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$1" ] && [ -x "$venv/bin/python" ] && "$venv/bin/python" -c '' 2>/dev/null
}

# --- Debian packages -------------------------------------------------------------------------------------------

privilege() {  # prints what to put before apt-get; fails where packages cannot be installed
  [ -z "${FISSILE_NO_APT:-}" ] && command -v apt-get >/dev/null || return 1
  if [ "$(id -u)" = 0 ]; then echo env
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then echo sudo env
  else return 1; fi
}

why_no_apt() {
  if privilege >/dev/null; then echo "apt-get failed"
  elif [ -n "${FISSILE_NO_APT:-}" ]; then echo "FISSILE_NO_APT is set"
  elif ! command -v apt-get >/dev/null; then echo "there is no apt-get here"
  else echo "that needs root or sudo without a password"; fi
}

explain_apt() { if privilege >/dev/null; then show_log; fi; }

apt_updated=
apt_install() {  # apt_install PACKAGE...: 0 if installed
  local as
  as=$(privilege) || return 1
  # Limits, so that a machine without a mirror fails at once instead of waiting.
  local options=(-q -o DPkg::Lock::Timeout=120 -o Acquire::Retries=1
                 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20)
  if [ -z "$apt_updated" ]; then
    # An update that fails for one of many sources still leaves a usable list: the install decides.
    logged timeout 300 $as apt-get "${options[@]}" update || true
    apt_updated=1
  fi
  logged timeout 600 $as DEBIAN_FRONTEND=noninteractive \
    apt-get "${options[@]}" install -y --no-install-recommends "$@"
}

# --- steps -----------------------------------------------------------------------------------------------------

is_new_enough() { [ "$("$1" -c 'import sys; print(sys.version_info >= (3, 11))' 2>/dev/null)" = True ]; }

find_python() {  # prints the interpreter's path
  local name
  if [ -n "${PYTHON:-}" ]; then
    is_new_enough "$PYTHON" && command -v "$PYTHON"
    return
  fi
  for name in python3 python3.14 python3.13 python3.12 python3.11; do
    if command -v "$name" >/dev/null && is_new_enough "$name"; then command -v "$name"; return; fi
  done
  return 1
}

choose_python() {  # sets $python
  if ! python=$(find_python); then
    if [ -n "${PYTHON:-}" ]; then
      fail "PYTHON=$PYTHON is not Python 3.11 or later" "unset PYTHON, or name another interpreter"
    fi
    if privilege >/dev/null; then say "python    none >= 3.11 on PATH; asking apt-get for python3"; fi
    if ! apt_install python3 python3-venv || ! python=$(find_python); then
      explain_apt
      fail "fissile needs Python 3.11 or later, and none could be installed ($(why_no_apt))" \
           "install it (Debian 12 and later: apt-get install python3 python3-venv), or set PYTHON=/path/to/python3"
    fi
  fi
  say "python    $("$python" -c 'import platform; print(platform.python_version())') ($python)"
}

# `import ensurepip` alone would be satisfied by an empty folder; Debian leaves the module out without python3-venv.
has_venv() { "$python" -c 'import venv; from ensurepip import bootstrap' 2>/dev/null; }

venv_works() {  # its python runs, and its scripts point here (a venv that was copied or moved still points there)
  [ -x "$venv/bin/python" ] && "$venv/bin/python" -m pip --version >/dev/null 2>&1 &&
    head -n 3 "$venv/bin/pip" 2>/dev/null | grep -qF "$venv/bin/python"
}

make_venv() {  # four ways, the ordinary one first
  if venv_works; then say "venv      ${venv#"$root"/} is there already"; return; fi
  rm -rf "$venv"
  if ! has_venv; then
    local version
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if privilege >/dev/null; then
      say "venv      $python has no venv module; asking apt-get for python$version-venv"
      apt_install "python$version-venv" || true
    fi
  fi
  if has_venv && logged "$python" -m venv "$venv" && venv_works; then
    say "venv      ${venv#"$root"/} made"; return
  fi
  rm -rf "$venv"
  if "$python" -c 'import virtualenv' 2>/dev/null && logged "$python" -m virtualenv -q "$venv" && venv_works; then
    say "venv      ${venv#"$root"/} made (by virtualenv)"; return
  fi
  rm -rf "$venv"
  if command -v virtualenv >/dev/null && logged virtualenv -q -p "$python" "$venv" && venv_works; then
    say "venv      ${venv#"$root"/} made (by virtualenv)"; return
  fi
  rm -rf "$venv"
  # pip without ensurepip (Debian's python3-pip alone) can fill an empty venv from outside.
  if "$python" -m pip --version >/dev/null 2>&1 && logged "$python" -m venv --without-pip "$venv" &&
     logged "$python" -m pip --python "$venv/bin/python" install -q pip && venv_works; then
    say "venv      ${venv#"$root"/} made (pip added from outside)"; return
  fi
  rm -rf "$venv"
  if ! has_venv; then
    explain_apt
    fail "$python has neither venv, virtualenv nor pip, and none could be installed ($(why_no_apt))" \
         "install one of them (Debian: apt-get install python3-venv), or set PYTHON=/path/to/python3"
  fi
  show_log
  fail "$python could not make $venv" "is the folder writable, and the disk not full?"
}

install_packages() {
  say "packages  installing fissile with its libraries (up to 400 MB the first time; a few minutes)"
  local began=$SECONDS
  if ! logged "$venv/bin/python" -m pip install --disable-pip-version-check --no-input \
       -e "$root[test]" ${FISSILE_IREE:+"iree-base-compiler==$FISSILE_IREE" "iree-base-runtime==$FISSILE_IREE"}; then
    show_log
    fail "pip could not install fissile's libraries" \
         "is a package index reachable? (PIP_INDEX_URL names another one, PIP_FIND_LINKS a folder of wheels)"
  fi
  say "packages  done in $((SECONDS - began)) s"
}

vulkan_device() {  # prints the name of the Vulkan device that IREE's runtime sees; fails where there is none
  timeout 60 "$venv/bin/python" -c '
import iree.runtime as runtime
print(runtime.get_driver("vulkan").query_available_devices()[0]["name"])' 2>>"$log"
}

find_vulkan() {  # a Vulkan device is wanted, never required
  local device
  if device=$(vulkan_device); then say "vulkan    $device"; return; fi
  if privilege >/dev/null; then
    say "vulkan    no device; installing Mesa's software driver (mesa-vulkan-drivers, libvulkan1)"
    apt_install mesa-vulkan-drivers libvulkan1 || true
    if device=$(vulkan_device); then say "vulkan    $device"; return; fi
    say "vulkan    no device, and apt-get gave none (build/setup.log): the demo runs on llvm-cpu"
  else
    say "vulkan    no device, and no driver installed ($(why_no_apt)): the demo runs on llvm-cpu"
  fi
}

# pip compiles what it copies into the venv; an editable fissile stays here. Where PYTHONDONTWRITEBYTECODE is set, as
# in many containers, Python would compile 180 modules in every process: 0.2 s of a processor. Only what has changed
# since is compiled; nothing depends on it.
compile_modules() {
  "$venv/bin/python" -m compileall -q "$root"/{dialect,fissile,passes,pipelines,bench,tests} >/dev/null 2>&1 || true
}

# --- the set-up ------------------------------------------------------------------------------------------------

key=$(wanted_key)
if is_current "$key"; then compile_modules; exit 0; fi

# IREE 3.13 starts its linker (iree-lld, inside .venv) through a shell without quoting its path.
if [[ $root == *[[:space:]\"\'\`\$\\\(\)\;\&\|\<\>\*\?]* ]]; then
  fail "IREE cannot link for llvm-cpu from a folder with a space or a shell's special character: $root" \
       "move the clone to a plain path"
fi

{ mkdir -p "$root/build" && : >>"$log"; } 2>/dev/null || fail "cannot write to $root/build" "is the clone yours?"
# Two callers at once (make and CMake) would write one venv: the second waits, and finds it done.
if command -v flock >/dev/null; then
  exec 9>"$root/build/setup.lock"
  flock 9
  if is_current "$key"; then compile_modules; exit 0; fi
fi
: >"$log"
rm -f "$stamp"

choose_python
make_venv
install_packages
compile_modules
find_vulkan
printf '%s\n' "$key" >"$stamp"
say "ready     ${venv#"$root"/} (activate it with: . ${venv#"$root"/}/bin/activate)"
