"""The vectors: the claims of each file, and the checks that they are true."""
