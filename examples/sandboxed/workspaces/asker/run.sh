# Asks a question, waits for the answer and tells it to the user.
swarm-msg list
answer=$(swarm-msg ask -t 60 answerer "what is six times seven?") || answer="no answer ($?)"
swarm-msg send user "the answerer says: $answer"
exec sleep 1000000
