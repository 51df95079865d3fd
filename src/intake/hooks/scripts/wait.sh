# Waits until mail comes for an idle session, then wakes it: the program runs this beside the session, and an end with
# 2 starts a turn with what stands on stderr.
#
# Mail is rung for on a FIFO with the name of a file. The FIFO stays open for reading and writing, so that no daemon that
# ends or starts again closes it, and nothing that is rung between two reads is lost. One waiter per session is enough; a file that another one took is not there any more.
umask 077
session=${CLAUDE_CODE_SESSION_ID:-}
case $session in '' | *[!A-Za-z0-9_-]*) exit 0 ;; esac
bell=$hooks/bells/$session
[ -p "$bell" ] || mkfifo "$bell" 2>/dev/null || [ -p "$bell" ] || exit 0
read -r waiter 2>/dev/null <"$bell.pid" && [ "$waiter" != $$ ] && kill -0 "$waiter" 2>/dev/null && exit 0
echo $$ >"$bell.pid"
exec 3<>"$bell"
while IFS= read -r mail <&3; do
  [ "$mail" = quit ] && exit 0
  case $mail in '' | *[!A-Za-z0-9_.-]*) continue ;; esac
  [ -z "$CLAUDE_PID" ] || kill -0 "$CLAUDE_PID" 2>/dev/null || exit 0
  [ -e "$hooks/bells/$mail" ] || continue
  # It is the session's waiter no more before it takes the mail: what was rung for after that, it would not read.
  rm -f "$bell.pid"
  mv "$hooks/bells/$mail" "$bell.taken" 2>/dev/null || { echo $$ >"$bell.pid"; continue; }
  cat "$bell.taken" >&2
  rm -f "$bell.taken"
  exit 2
done
exit 0
