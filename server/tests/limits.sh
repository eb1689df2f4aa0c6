#!/usr/bin/env bash
# Functions for scripts that run tests. The scripts source this file. `within` runs a command with a time limit, and
# ends it when the script is ended. `timeout` alone creates its own process group, which gets neither Ctrl+C nor the
# signal of a caller's time limit. The script would then wait for the command or leave it running.

# The process this shell waits for. Scripts add their background process groups to `beside`.
child=
beside=()
# Set while a command starts and its process ID is unknown. A signal then ends the shell only once the ID is known.
is_starting=
ended_with=

# Ends the running commands of this shell and waits for their clean-up.
end_begun() {
  local group
  if [[ -n $child ]]; then
    kill "$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  fi
  for group in "${beside[@]}"; do
    kill -- "-$group" 2>/dev/null || true
    wait "$group" 2>/dev/null || true
  done
}

exit_on_signals() {
  trap 'end_with 129' HUP
  trap 'end_with 130' INT
  trap 'end_with 143' TERM
}

end_with() { # STATUS
  ended_with=$1
  [[ -n $is_starting ]] || exit "$1"
}

# The script's EXIT trap must call `end_begun`; subshells of pipelines get that trap here.
within() { # TIME COMMAND...: runs a command with a time limit in the syntax of `timeout`
  local status=0
  if ((BASH_SUBSHELL > 0)); then
    beside=()
    trap end_begun EXIT
    exit_on_signals
  fi
  # Bash delays traps until a foreground command ends, but a signal interrupts `wait`, so the command runs in the background.
  # There SIGINT would be ignored, so `env` resets it.
  is_starting=1
  env --default-signal=INT,QUIT timeout --kill-after=60 "$@" &
  child=$!
  is_starting=
  [[ -z $ended_with ]] || exit "$ended_with"
  wait "$child" || status=$?
  child=
  return "$status"
}
