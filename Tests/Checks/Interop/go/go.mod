module example.com/interop

go 1.19

require example.com/pushcrypt/Sources/Languages/go v1.0.0-beta.1
