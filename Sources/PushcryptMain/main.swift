import PushcryptCommand

prepareProcess()
endProcess(run(arguments: Array(CommandLine.arguments.dropFirst()), io: .standard))
