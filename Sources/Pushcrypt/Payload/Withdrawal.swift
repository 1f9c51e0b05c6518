/// A message's orders about itself and earlier messages, under the reserved key. (`Docs/Format.md`, Withdrawal and drop)
///
///     {"aps":{…},"pushcrypt":{"withdraw":["table-17"],"drop":true}}
struct Withdrawal {
    /// The maximum number of messages that one message withdraws.
    static let maximumCount = 64

    /// The messages to withdraw.
    private(set) var messages: [MessageID] = []
    /// Whether the message is not to be shown.
    private(set) var isDropped = false

    private static let withdraw = "withdraw"
    private static let drop = "drop"

    /// Reads an opened payload; `own` is the message's id, which it cannot withdraw.
    init(in payload: JSONValue, of own: MessageID) {
        guard let reserved = payload[PayloadKeys.reserved], reserved.kind == .object else { return }
        isDropped = reserved[Self.drop]?.bool == true
        for element in reserved[Self.withdraw]?.elements.prefix(Self.maximumCount) ?? [] {
            guard let name = element.string, !name.isEmpty else { continue }
            let id = MessageID(callerName: name)
            if id != own, !messages.contains(id) { messages.append(id) }
        }
    }

    /// Throws `invalidRequest` for names that no receiver would take.
    static func check(_ names: [String], of message: String?) throws(SealError) {
        guard names.count <= maximumCount else {
            throw SealError(
                .invalidRequest,
                "a message withdraws at most \(maximumCount) others, and \(names.count) were given; send several messages"
            )
        }
        guard !names.contains("") else {
            throw SealError(.invalidRequest, "the name of a message to withdraw is empty")
        }
        guard message.map(names.contains) != true else {
            throw SealError(.invalidRequest, "the message would withdraw itself; give it another name")
        }
    }

    /// Writes the members, if there are any.
    static func write(_ names: [String], isDropped: Bool, to json: inout JSONWriter) {
        if !names.isEmpty {
            json.array(for: withdraw) { json in for name in names { json.string(name) } }
        }
        if isDropped { json.bool(true, for: drop) }
    }
}
