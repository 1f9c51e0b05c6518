/// Finds a name that appears twice in one object.
///
/// Names are compared as unescaped UTF-8 bytes: `"a"` and `"\u0061"` are the same name, but the two spellings of é,
/// with one scalar or two, are different names, although Swift's `String` compares them as equal.
enum JSONNames {
    /// Up to this many names, each is compared with every other, which takes no memory.
    private static let fewMembers = 12

    /// Returns the offset of the first name that equals an earlier one of the same object.
    static func firstRepeated(
        in object: Int, members: Int, nodes: ContiguousArray<JSONNode>, bytes: ContiguousArray<UInt8>
    ) -> Int? {
        members <= fewMembers
            ? firstRepeatedOfFew(in: object, nodes: nodes, bytes: bytes)
            : firstRepeatedOfMany(in: object, members: members, nodes: nodes, bytes: bytes)
    }

    private static func firstRepeatedOfFew(
        in object: Int, nodes: ContiguousArray<JSONNode>, bytes: ContiguousArray<UInt8>
    ) -> Int? {
        let end = Int(nodes[object].next)
        var later = object + 1
        while later < end {
            var earlier = object + 1
            while earlier < later {
                if areEqual(nodes[earlier], nodes[later], bytes) { return Int(nodes[later].start) }
                earlier = Int(nodes[earlier + 1].next)
            }
            later = Int(nodes[later + 1].next)
        }
        return nil
    }

    /// The time is linear, except for sorting integers: names are compared only if their hashes are equal, and the hash is
    /// seeded per process, so names with equal hashes cannot be prepared.
    private static func firstRepeatedOfMany(
        in object: Int, members: Int, nodes: ContiguousArray<JSONNode>, bytes: ContiguousArray<UInt8>
    ) -> Int? {
        var names = ContiguousArray<(hash: Int, index: Int)>()
        names.reserveCapacity(members)
        let end = Int(nodes[object].next)
        var name = object + 1
        while name < end {
            names.append((hash(of: nodes[name], bytes), name))
            name = Int(nodes[name + 1].next)
        }
        names.sort { $0 < $1 }

        var first: Int?
        var run = 0
        for later in names.indices {
            if names[later].hash != names[run].hash { run = later }
            let isRepeated = names[run..<later].contains { earlier in
                areEqual(nodes[earlier.index], nodes[names[later].index], bytes)
            }
            if isRepeated { first = min(first ?? .max, Int(nodes[names[later].index].start)) }
        }
        return first
    }

    private static func areEqual(_ left: JSONNode, _ right: JSONNode, _ bytes: ContiguousArray<UInt8>) -> Bool {
        JSONText.areEqual(left.characters, right.characters, in: bytes)
    }

    private static func hash(of name: JSONNode, _ bytes: ContiguousArray<UInt8>) -> Int {
        var hasher = Hasher()
        for byte in JSONUnescaped(bytes, in: name.characters) { hasher.combine(byte) }
        return hasher.finalize()
    }
}
