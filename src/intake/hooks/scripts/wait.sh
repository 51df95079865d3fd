# Waits until mail comes for an idle session, then wakes it: the program runs this beside the session, and an end with
# 2 starts a turn with the text on stderr.
#
# Mail is rung for on a FIFO with the name of a file. The FIFO stays open for reading and writing, so that no daemon that
# ends or starts again closes it, and nothing that is rung between two reads is lost. One waiter per session is enough; a file that another one took is not there any more.
umask 077
session=${CLAUDE_CODE_SESSION_ID:-}
case $session in '' | *[!A-Za-z0-9_-]*) exit 0 ;; esac
bell=$hooks/bells/$session
[ -p "$bell" ] || mkfifo "$bell" 2>/dev/null || [ -p "$bell" ] || exit 0
# The program that this session ends with. Where a version of Claude Code does not name it, it is the parent, or the parent of
# the shell that runs this: then that shell gets another parent when the program ends, and this one stays behind.
above() {
  up=
  [ -z "$CLAUDE_PID" ] || return 0
  { read -r _ _ _ up _ <"/proc/$PPID/stat"; } 2>/dev/null || up=$(ps -o ppid= -p "$PPID" 2>/dev/null)
}
above
program=${CLAUDE_PID:-$PPID}
parent=$up
lives() {
  above
  kill -0 "$program" 2>/dev/null && [ "$up" = "$parent" ]
}
# The waiter of an earlier run of the session gives way.
{ read -r waiter owner <"$bell.pid"; } 2>/dev/null && [ "$owner" = "${CLAUDE_PID:-$parent}" ] && [ "$waiter" != $$ ] && kill -0 "$waiter" 2>/dev/null && exit 0
own() { echo "$$ ${CLAUDE_PID:-$parent}" >"$bell.pid"; }
own
exec 3<>"$bell"
while IFS= read -r mail <&3; do
  [ "$mail" = quit ] && exit 0
  case $mail in '' | *[!A-Za-z0-9_.-]*) continue ;; esac
  # Both hear the bell, so this one forwards the text to its replacement.
  { read -r waiter _ <"$bell.pid"; } 2>/dev/null && [ "$waiter" != $$ ] && echo "$mail" >&3 && exit 0
  lives || exit 0
  [ -e "$hooks/bells/$mail" ] || continue
  # It is the session's waiter no more before it takes the mail: what was rung for after that, it would not read.
  rm -f "$bell.pid"
  mv "$hooks/bells/$mail" "$bell.taken" 2>/dev/null || { own; continue; }
  cat "$bell.taken" >&2
  rm -f "$bell.taken"
  exit 2
done
exit 0
