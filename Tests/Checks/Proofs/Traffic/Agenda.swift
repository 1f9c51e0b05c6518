import Pushcrypt

/// A queue of events by time; those of the same time are in the order of entry.
struct Agenda<Event> {
    private struct Entry {
        let time: Timestamp
        let number: Int
        let event: Event

        func precedes(_ other: Entry) -> Bool { (time, number) < (other.time, other.number) }
    }

    // A binary heap: no entry precedes the one above it.
    private var entries: [Entry] = []
    private var number = 0

    mutating func enter(_ event: Event, at time: Timestamp) {
        entries.append(Entry(time: time, number: number, event: event))
        number += 1
        var index = entries.count - 1
        while index > 0, entries[index].precedes(entries[(index - 1) / 2]) {
            entries.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func next() -> (time: Timestamp, event: Event)? {
        guard let first = entries.first, let last = entries.popLast() else { return nil }
        if !entries.isEmpty {
            entries[0] = last
            sink()
        }
        return (first.time, first.event)
    }

    private mutating func sink() {
        var index = 0
        while let child = [2 * index + 1, 2 * index + 2].filter({ $0 < entries.count })
            .min(by: { entries[$0].precedes(entries[$1]) }), entries[child].precedes(entries[index])
        {
            entries.swapAt(index, child)
            index = child
        }
    }
}
