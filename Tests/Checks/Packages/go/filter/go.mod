module example.com/filter-test

go 1.19

require example.com/pushcrypt v0.1.0
