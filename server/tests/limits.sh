#!/usr/bin/env bash
# For scripts that run tests; they read this file. `within` runs a command for so long at most, and ends it when the
# script is ended. `timeout` leads a process group of its own, which neither Ctrl+C nor the limit of a caller
# reaches: without this the script would wait for the command, or leave it behind.

# The command that this shell waits for; a script adds the process groups that run beside it.
child=
beside=()
# While a command starts, its process id is not known yet: a signal ends the shell when it is.
is_starting=
ended_with=

# Ends what this shell began, and waits until it has put away what it made.
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

# Needs `end_begun` in the script's own trap of EXIT; the shells of its pipelines get one here.
within() { # TIME COMMAND...: the time as `timeout` takes it
  local status=0
  if ((BASH_SUBSHELL > 0)); then
    beside=()
    trap end_begun EXIT
    exit_on_signals
  fi
  # Bash runs no trap before a command in the foreground ends, but a signal interrupts `wait`. In the background a
  # command would ignore SIGINT.
  is_starting=1
  env --default-signal=INT,QUIT timeout --kill-after=60 "$@" &
  child=$!
  is_starting=
  [[ -z $ended_with ]] || exit "$ended_with"
  wait "$child" || status=$?
  child=
  return "$status"
}
