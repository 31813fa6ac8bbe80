"""From a unit's texts to tokens: what is read, what is cut, and turns of a chat."""
