"""The vectors: what is said in each file, and the checks that what is said is true."""
