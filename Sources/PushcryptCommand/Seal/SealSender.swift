internal import Pushcrypt

extension Option {
    /// With which key `seal` signs.
    static let sealSender = [
        Option("--from", "NAME", help: "the sender key in the store; otherwise the default one"),
        Option(
            "--sender-key-file", "FILE", .secret,
            help: "sign with this key and use no store: a file, fd:N, or - for standard input"),
    ]
}

extension SealRoute {
    /// Takes the keys that the command line of `seal` names.
    init(_ invocation: Invocation, _ console: Console) throws(CommandFailure) {
        let to = invocation.requiredValue("--to")
        guard let source = invocation.value("--sender-key-file") else {
            let store = try console.openStore(invocation)
            try self.init(
                store: store, to: to, as: "--to", from: invocation.value("--from"), invocation, console)
            return
        }
        for name in ["--store", "--from", "--passphrase-file"] where invocation.flag(name) {
            throw .usage(
                "--sender-key-file and \(name) exclude each other", hint: "a key file is used without a store")
        }
        try self.init(keyFile: source, to: to, as: "--to", invocation, console)
    }
}
