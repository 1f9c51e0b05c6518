"""The pushcrypt format, version 1, written from its specification alone and sharing nothing with the Swift code.

It is slow, keeps secrets in ordinary memory and is not constant time: it makes and checks test vectors, nothing else.
"""
