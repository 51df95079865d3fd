#!/bin/sh
# A lead asks further: web's lead the lead of api, and that one its coder. The answer goes back the same way.
printf '> '
while IFS= read -r line; do
  tag=${line%%: *}
  body=$(tieline show "$tag")
  case $TIELINE_TEAM:$TIELINE_AGENT in
    web:lead) answer=$(tieline ask api:lead --timeout 60s "$body") ;;
    api:lead) answer=$(tieline ask coder --timeout 60s "$body") ;;
    api:coder) answer="42, says the coder of api" ;;
  esac
  tieline reply "$tag" "$answer"
  printf '> '
done
