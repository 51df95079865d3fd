#!/bin/sh
# The lead forwards your task to all agents it has an edge to, collects their answers and reports; a worker answers.
task= answers= count=0
printf '> '
while IFS= read -r line; do
  tag=${line%%: *}
  body=$(tieline show "$tag")
  case $TIELINE_AGENT:$tag in
    lead:MSG_USER_*)
      task=$tag answers= count=0
      tieline broadcast --spawn "$body"
      ;;
    lead:*)
      answers="$answers $body;" count=$((count + 1))
      [ "$count" -lt 3 ] || tieline reply "$task" "all three answered:$answers"
      ;;
    *) tieline reply "$tag" "$TIELINE_AGENT did $body" ;;
  esac
  printf '> '
done
