# Answers every message that comes into its inbox.
mkdir -p .inbox
while :; do
  for file in .inbox/[0-9]*.json; do
    [ -e "$file" ] || continue
    tag=$(sed -n 's/.*"tag":"\([^"]*\)".*/\1/p' "$file")
    swarm-msg reply "$tag" "forty-two"
    rm "$file"
  done
  sleep 0.1
done
