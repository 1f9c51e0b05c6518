import Pushcrypt

extension ContiguousArray<UInt8> {
    /// Changes these bytes as an input says, in at most eight places.
    mutating func edit(_ choices: inout Choices) {
        for _ in 0..<8 {
            guard !choices.isEmpty, !isEmpty else { return }
            let kind = choices.byte()
            let number = Int(choices.integer(UInt16.self))
            // Counted from the end as easily as from the beginning.
            let place = number & 0x8000 == 0 ? number % count : count - 1 - (number & 0x7fff) % count
            switch kind % 7 {
            case 0: self[place] ^= choices.byte()
            case 1: self[place] = choices.byte()
            case 2: insert(choices.byte(), at: place)
            case 3: remove(at: place)
            case 4: removeLast(Swift.min(count, Int(choices.byte())))
            case 5: append(choices.byte())
            default: swapAt(place, Int(choices.integer(UInt16.self)) % count)
            }
        }
    }
}
