/// Messages by the time at which they are due; a binary heap.
struct TimedQueue {
    private var items: ContiguousArray<(due: UInt64, delivery: Delivery)> = []
    /// The bytes of the messages.
    private(set) var bytes = 0

    var isEmpty: Bool { items.isEmpty }
    var count: Int { items.count }
    /// The earliest time.
    var firstDue: UInt64? { items.first?.due }

    mutating func insert(_ delivery: Delivery, due: UInt64) {
        items.append((due, delivery))
        bytes += delivery.byteCount
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
        bytes -= first.delivery.byteCount
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
        defer { (items, bytes) = ([], 0) }
        return items.map(\.delivery)
    }
}
