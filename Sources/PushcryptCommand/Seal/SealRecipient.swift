internal import PushcryptCommandKit

extension Option {
    /// Whom `seal` seals for.
    static let sealRecipient = [
        Option("--to", "DEVICE", .name(.device), help: "the device: its id in the store, or its public key (pcr1…)"),
        Option("--to-user", "USER", .name(.user), help: "every device of a user in the store"),
        Option(flag: "--to-all", help: "every device in the store"),
        Option(
            "--to-file", "LIST", .input,
            help: "the devices of a file: in each line an id, a public key, or an object with 'to' or 'to-user'"),
        Option(
            flag: "--batch",
            help: "seal a message for each line of FILE: an object with 'to' or 'to-user', and 'payload'"),
    ]
}

/// Whom the command line names.
enum SealRecipients {
    case one(String)
    case user(String)
    case all
    case list(String)
    /// Whoever the lines name.
    case lines

    init(_ invocation: Invocation) throws(CommandFailure) {
        try invocation.atMostOne(of: "--to", "--to-user", "--to-all", "--to-file", "--batch")
        if let device = invocation.value("--to") {
            self = .one(device)
        } else if let user = invocation.value("--to-user") {
            self = .user(user)
        } else if let list = invocation.value("--to-file") {
            self = .list(list)
        } else if invocation.flag("--to-all") {
            self = .all
        } else if invocation.flag("--batch") {
            self = .lines
        } else {
            throw .usage("nobody says for whom it is", hint: "add --to with a device's id or its public key (pcr1…)")
        }
    }
}
