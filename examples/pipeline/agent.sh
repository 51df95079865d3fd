#!/bin/sh
# A scripted coding agent: takes a message, does its part, and passes the result on.
printf '> '
while IFS= read -r line; do
  tag=${line%%: *}
  body=$(tieline show "$tag")
  case $TIELINE_AGENT in
    researcher) tieline send coder "notes on $body" ;;
    coder) tieline send reviewer "a patch from $body" ;;
    reviewer) tieline send user "approved: $body" ;;
  esac
  printf '> '
done
