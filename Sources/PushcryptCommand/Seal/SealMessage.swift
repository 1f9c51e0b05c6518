internal import Pushcrypt
internal import PushcryptCommandKit

extension Option {
    /// How one message is sealed.
    static let sealMessage = [
        Option(
            "--push-type", "TYPE", .known { ["alert", "background", "voip"] },
            help: "alert (the default), background or voip"),
        Option(
            "--ttl", "TIME", .duration(1...Int(Freshness.maximumTimeToLive.seconds)),
            help: "how long the message may be shown after now; otherwise the store's, otherwise 30d"),
        Option("--id", "NAME", help: "names the message, the same in every retry, so that a phone shows it once"),
        Option(flag: "--exact", help: "the sender sends these very bytes: measure them, and end without a newline"),
    ]
}

extension Sealer.Options {
    /// Takes the options of the command line, and the store's time to live where they name none.
    init(_ invocation: Invocation, _ source: SealSource) throws(CommandFailure) {
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
        let seconds = if let given = invocation.seconds("--ttl") { given } else { try source.timeToLive() }
        if let seconds { timeToLive = .seconds(UInt64(clamping: seconds)) }
        isSentExactly = invocation.flag("--exact")
        fitting = [AlertText](fitting: invocation)
    }
}
