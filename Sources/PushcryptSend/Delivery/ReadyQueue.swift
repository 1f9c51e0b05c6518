/// Messages in order, with a place in front for those that come back.
struct ReadyQueue {
    private var items: ContiguousArray<Delivery?> = []
    private var start = 0
    /// The bytes of the messages.
    private(set) var bytes = 0

    var isEmpty: Bool { start == items.count }
    var count: Int { items.count - start }
    var first: Delivery? { isEmpty ? nil : items[start] }

    var all: [Delivery] { items[start...].compactMap { $0 } }

    mutating func append(_ delivery: Delivery) {
        items.append(delivery)
        bytes += delivery.byteCount
    }

    mutating func prepend(_ delivery: Delivery) {
        bytes += delivery.byteCount
        if start > 0 {
            start -= 1
            items[start] = delivery
        } else {
            items.insert(delivery, at: 0)
        }
    }

    mutating func popFirst() -> Delivery? {
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

    mutating func popLast() -> Delivery? {
        guard !isEmpty, let last = items.removeLast() else { return nil }
        bytes -= last.byteCount
        return last
    }

    /// Removes the messages for which `isOver` is true; returns them.
    mutating func remove(where isOver: (Delivery) -> Bool) -> [Delivery] {
        var removed: [Delivery] = []
        var kept: ContiguousArray<Delivery?> = []
        for case let delivery? in items[start...] {
            guard isOver(delivery) else {
                kept.append(delivery)
                continue
            }
            removed.append(delivery)
            bytes -= delivery.byteCount
        }
        if !removed.isEmpty {
            items = kept
            start = 0
        }
        return removed
    }
}
