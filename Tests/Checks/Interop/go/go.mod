// Below the package's path, because vectors need its internal packages.
module example.com/pushcrypt/interop

go 1.19

require example.com/pushcrypt v1.0.0-beta.1
