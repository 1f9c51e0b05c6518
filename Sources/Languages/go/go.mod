// The path becomes the project's address when it is published.
module example.com/pushcrypt/Sources/Languages/go

go 1.19

require golang.org/x/crypto v0.4.0

require golang.org/x/sys v0.3.0 // indirect
