let bench = try LibraryBench()
try bench.check()
Table.printHeader()
for _ in 0..<3 { try bench.run() }
