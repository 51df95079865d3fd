#!/bin/sh
# An agent that needs no model: it reads its mail at its prompt, as any terminal program would, and answers with the
# `tieline` command that every agent has.
say() { printf '%s\n' "$*"; }

say "$TIELINE_AGENT is here"
printf '> '
while IFS= read -r line; do
  case $line in
    MSG_*) tag=${line%%:*} body=${line#*: } ;;
    *) printf '> '; continue ;;
  esac
  case $TIELINE_AGENT in
    researcher)
      say "reading the code for: $body"
      say "asking the reviewer directly …"
      tieline send reviewer "is this worth a look?" || say "(not allowed, so it goes through the coder)"
      tieline send coder "uploads fail after a dropped connection: upload() never retries. Please fix it."
      ;;
    coder)
      case $body in *"looks right"*) say "merged"; printf '> '; continue ;; esac
      say "fixing: $body"
      tieline send reviewer "retry with backoff is in upload(); three attempts, then it says why; please review"
      ;;
    reviewer)
      say "reviewing: $body"
      tieline reply "$tag" "looks right: the attempts are bounded and the error is kept"
      tieline send user "the upload fix is reviewed and ready to merge"
      ;;
  esac
  printf '> '
done
