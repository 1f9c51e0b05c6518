module example.com/interop

go 1.19

require example.com/pushcrypt v1.0.0-beta.1
