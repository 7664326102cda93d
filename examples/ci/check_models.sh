#!/usr/bin/env bash
# check_models.sh MODEL...: runs `fissile check` on each model, for a pre-commit hook or a CI job.
#   FISSILE_TARGETS   targets, separated by blanks (default: llvm-cpu)
#   FISSILE_OPTIONS   further options of `fissile check`, --format=github for example
# Exit status: the highest of all models (1: stock IREE rejects one, never finishes or miscompiles it).
set -u
options=(${FISSILE_OPTIONS:-})
for target in ${FISSILE_TARGETS:-llvm-cpu}; do options+=(--target "$target"); done
worst=0
for model in "$@"; do
  fissile check "$model" "${options[@]}"
  status=$?
  [ "$status" -gt "$worst" ] && worst=$status
done
exit "$worst"
