internal import Pushcrypt

extension Option {
    /// How one message is sealed.
    static let sealMessage = [
        Option(
            "--push-type", "TYPE", .known(["alert", "background", "voip"]),
            help: "alert (the default), background or voip"),
        Option(
            "--ttl", "TIME", .duration(1...Int(Freshness.maximumTimeToLive)),
            help: "how long the message may be shown after now; 30d otherwise"),
        Option("--id", "NAME", help: "names the message, the same in every retry, so that a phone shows it once"),
        Option(flag: "--exact", help: "the sender sends these very bytes: measure them, and end without a newline"),
    ]
}

extension Sealer.Options {
    /// Takes the options of the command line.
    init(_ invocation: Invocation) throws(CommandFailure) {
        self.init()
        if let name = invocation.value("--push-type") {
            do throws(SealError) {
                pushType = try PushType(name)
            } catch {
                // A type of Apple's says something about the payload; any other word is a slip on the command line.
                guard PushType.readByTheSystem.contains(name) else { throw .usage("--push-type: \(error)") }
                throw CommandFailure(error)
            }
        }
        messageName = invocation.value("--id")
        if let seconds = invocation.seconds("--ttl") { timeToLive = UInt32(clamping: seconds) }
        isSentExactly = invocation.flag("--exact")
        fitting = [AlertText](fitting: invocation)
    }
}
