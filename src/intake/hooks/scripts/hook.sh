# One call of an agent program's hook: hook <provider> <event>, with the payload on stdin.
#
# The call is left in the spool, where the daemon finds it, and the program goes on: two milliseconds. Only when mail
# waits for the session is the client asked for an answer. Nothing here waits for a daemon, and whatever goes wrong
# ends with 0, because a message switch that is out of order must not stop the agent's work.
umask 077
[ "$2" = SessionStart ] || [ -S "$socket" ] || exit 0
call=$hooks/spool/$$
{ printf '%s\t%s\t%s\t%s\n' "$1" "${TMUX%%,*}" "$TMUX_PANE" "${CLAUDE_PID:-$PPID}" && cat; } 2>/dev/null >"$call.call" || exit 0
# A program that Claude Code started has its variables too; what it is itself in stands in the payload.
session=
[ "$1" != claude-code ] || session=$CLAUDE_CODE_SESSION_ID
if [ -z "$session" ]; then
  head=$(head -c 1000 "$call.call")
  session=${head#*\"session_id\":\"}
  session=${session%%\"*}
fi
case $session in '' | *[!A-Za-z0-9_-]*) exit 0 ;; esac
[ -e "$hooks/mail/$session" ] && exec env TIELINE_HOME="${hooks%/hooks}" "$tieline" hook "$call.call"
: >"$call.done"
exit 0
