# One call of an agent program's hook: hook <provider> <event> [all], with the payload on stdin.
#
# The call is left in the spool, where the daemon finds it, and the program continues. The daemon is asked for an answer
# only when hooks/mail/<session> names the event, and for Claude Code's SendMessage. Nothing here waits for a daemon that
# is not there. Whatever goes wrong ends with 0, because a broken message switch must not stop the agent's work; that is
# also why a file is made by printf: a failed redirection of `:` would end the script with 2, which refuses the call.
umask 077
[ "$2" = SessionStart ] || [ -S "$socket" ] || exit 0
call=$hooks/spool/$$
pid=$PPID
session=
# A program that Claude Code started inherits its variables; for any other program only the payload counts.
if [ "$1" = claude-code ]; then
  pid=${CLAUDE_PID:-$PPID}
  session=$CLAUDE_CODE_SESSION_ID
fi
caller="$1	${TMUX%%,*}	$TMUX_PANE	$pid	$3"
payload=
if [ -n "$session" ] && [ "$2" != PreToolUse ]; then
  { printf '%s\n' "$caller" && cat; } 2>/dev/null >"$call.call" || exit 0
else
  payload=$(cat)
  { printf '%s\n%s' "$caller" "$payload"; } 2>/dev/null >"$call.call" || exit 0
fi
if [ -z "$session" ]; then
  # Near the beginning, if at all; searching the whole of a large payload takes the shell too long.
  start=$(printf '%.1000s' "$payload")
  case $start in
    *\"session_id\"*)
      session=${start#*\"session_id\"}
      session=${session#*\"}
      session=${session%%\"*}
      ;;
  esac
fi
events=
case $session in
  '' | *[!A-Za-z0-9_-]*) ;;
  *) [ -e "$hooks/mail/$session" ] && read -r events 2>/dev/null <"$hooks/mail/$session" ;;
esac
ask=
case " $events " in *" $2 "*) ask=yes ;; esac
case $payload in *'"SendMessage"'*) [ "$1" = claude-code ] && ask=yes ;; esac
if [ -n "$ask" ] && [ -S "$socket" ] && [ -x "$bun" ] && cd "$hooks" 2>/dev/null; then
  # In the private folder, since Bun obeys settings in the directory it is started in.
  export BUN_BE_BUN=1 BUN_RUNTIME_TRANSPILER_CACHE_PATH=0
  exec "$bun" --no-install "$hooks/ask.mjs" "$socket" "$call"
fi
printf '' 2>/dev/null >"$call.done"
exit 0
