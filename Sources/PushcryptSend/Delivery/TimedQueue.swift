/// Messages by the time at which they are due; a binary heap.
struct TimedQueue {
    private var items: ContiguousArray<(due: UInt64, delivery: Delivery)> = []

    var isEmpty: Bool { items.isEmpty }
    var count: Int { items.count }
    /// The earliest time.
    var firstDue: UInt64? { items.first?.due }

    mutating func insert(_ delivery: Delivery, due: UInt64) {
        items.append((due, delivery))
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard items[child].due < items[parent].due else { return }
            items.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes the first message if it is due.
    mutating func popDue(at time: UInt64) -> Delivery? {
        guard let first = items.first, first.due <= time else { return nil }
        let last = items.removeLast()
        guard !items.isEmpty else { return first.delivery }
        items[0] = last
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < items.count else { break }
            let right = left + 1
            let child = right < items.count && items[right].due < items[left].due ? right : left
            guard items[child].due < items[parent].due else { break }
            items.swapAt(child, parent)
            parent = child
        }
        return first.delivery
    }

    /// Removes all messages.
    mutating func removeAll() -> [Delivery] {
        defer { items = [] }
        return items.map(\.delivery)
    }
}

/// Messages in order, with a place in front for those that come back.
struct ReadyQueue {
    private var items: ContiguousArray<Delivery?> = []
    private var start = 0

    var isEmpty: Bool { start == items.count }
    var count: Int { items.count - start }
    var first: Delivery? { isEmpty ? nil : items[start] }

    mutating func append(_ delivery: Delivery) { items.append(delivery) }

    mutating func prepend(_ delivery: Delivery) {
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
        if start >= 1024, start * 2 >= items.count {
            items.removeSubrange(..<start)
            start = 0
        }
        return first
    }

    /// Removes the messages for which `isOver` is true; returns them.
    mutating func remove(where isOver: (Delivery) -> Bool) -> [Delivery] {
        var removed: [Delivery] = []
        var kept: ContiguousArray<Delivery?> = []
        for case let delivery? in items[start...] {
            if isOver(delivery) { removed.append(delivery) } else { kept.append(delivery) }
        }
        if !removed.isEmpty {
            items = kept
            start = 0
        }
        return removed
    }
}
