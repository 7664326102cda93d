"""Who owns storage, what may name it, and where its life ends: facts for the check and for the releases that are inserted."""
