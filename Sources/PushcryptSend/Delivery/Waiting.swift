/// Something that a message waits for besides its turn.
enum Place: Hashable {
    case login
    case topic(String)
    /// Its expiration has come by a clock that the server has not confirmed.
    case clock
}

/// The messages that are not under way.
struct Waiting {
    /// Those that may go out.
    var ready = MessageQueue()
    /// Those that may have arrived: they share a budget.
    var again = MessageQueue()
    /// Those with a pause of their own.
    var later = TimedQueue()
    var held: [Place: MessageQueue] = [:]
    /// When the server may be asked again for a device token.
    private var busy: [String: UInt64] = [:]

    /// The messages that wait for something other than their turn, and their bytes.
    var deferred: (count: Int, bytes: Int) {
        held.values.reduce((later.count + again.count, later.bytes + again.bytes)) {
            ($0.0 + $1.count, $0.1 + $1.bytes)
        }
    }

    /// Sends a message as soon as possible.
    mutating func first(_ message: Message) {
        if message.mayHaveArrived { again.prepend(message) } else { ready.prepend(message) }
    }

    mutating func hold(_ message: Message, _ place: Place) { held[place, default: MessageQueue()].append(message) }

    /// Has the messages ready that waited for a place.
    mutating func release(_ place: Place) {
        for message in held.removeValue(forKey: place)?.all ?? [] {
            message.hold = nil
            if message.mayHaveArrived { again.append(message) } else { ready.append(message) }
        }
    }

    /// The uptime until which a device is left alone.
    func busyUntil(_ token: String) -> UInt64 { busy.isEmpty ? 0 : busy[token] ?? 0 }

    mutating func setBusy(_ token: String, until time: UInt64) { busy[token] = time }

    mutating func forgetPauses(before time: UInt64) {
        if !busy.isEmpty { busy = busy.filter { $0.value > time } }
    }

    /// Removes the messages but those with a pause of their own that are over; returns them.
    mutating func remove(where isOver: (Message) -> Bool) -> [Message] {
        var removed = ready.remove(where: isOver) + again.remove(where: isOver)
        for place in held.keys { removed += held[place]?.remove(where: isOver) ?? [] }
        return removed
    }

    mutating func removeAll() -> [Message] {
        defer { self = Waiting() }
        return ready.all + again.all + held.values.flatMap(\.all) + later.all
    }
}

/// Messages in order, with a place in front for those that come back.
struct MessageQueue {
    private var items: ContiguousArray<Message?> = []
    private var start = 0
    /// The bytes of the messages.
    private(set) var bytes = 0

    var isEmpty: Bool { start == items.count }
    var count: Int { items.count - start }
    var first: Message? { isEmpty ? nil : items[start] }
    var all: [Message] { items[start...].compactMap { $0 } }

    mutating func append(_ message: Message) {
        items.append(message)
        bytes += message.byteCount
    }

    mutating func prepend(_ message: Message) {
        bytes += message.byteCount
        if start == 0 {
            start = max(16, items.count)
            items.insert(contentsOf: repeatElement(nil, count: start), at: 0)
        }
        start -= 1
        items[start] = message
    }

    mutating func popFirst() -> Message? {
        guard let first else { return nil }
        items[start] = nil
        start += 1
        bytes -= first.byteCount
        if start >= 1024, start * 2 >= items.count {
            items.removeSubrange(..<start)
            start = 0
        }
        return first
    }

    mutating func popLast() -> Message? {
        guard !isEmpty, let last = items.removeLast() else { return nil }
        bytes -= last.byteCount
        return last
    }

    /// Removes the messages for which `isOver` is true; returns them.
    mutating func remove(where isOver: (Message) -> Bool) -> [Message] {
        guard items[start...].contains(where: { $0.map(isOver) ?? false }) else { return [] }
        var removed = all
        let end = removed.partition { !isOver($0) }
        items.removeAll { $0.map(isOver) ?? true }
        start = 0
        bytes = items.reduce(0) { $0 + ($1?.byteCount ?? 0) }
        return Array(removed[..<end])
    }
}

/// Messages by the time at which they are due. Equal times keep their order.
struct TimedQueue {
    /// The next one is the last.
    private var items: ContiguousArray<(due: UInt64, message: Message)> = []
    /// The bytes of the messages.
    private(set) var bytes = 0

    var count: Int { items.count }
    /// The earliest time.
    var firstDue: UInt64? { items.last?.due }
    var all: [Message] { items.map(\.message) }

    /// Moves half of the messages at most, of up to 20,000: that is less work than a request.
    mutating func insert(_ message: Message, due: UInt64) {
        var (low, high) = (0, items.count)
        while low < high {
            let middle = (low + high) / 2
            if items[middle].due > due { low = middle + 1 } else { high = middle }
        }
        items.insert((due, message), at: low)
        bytes += message.byteCount
    }

    /// Removes the first message if it is due.
    mutating func popDue(at time: UInt64) -> Message? {
        guard let last = items.last, last.due <= time else { return nil }
        items.removeLast()
        bytes -= last.message.byteCount
        return last.message
    }
}
