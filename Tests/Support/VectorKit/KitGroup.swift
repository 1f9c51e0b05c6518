public import Foundation

/// A group of the test kit, which is one file: which members its tests have, and what may come of them.
///
/// Nothing may pass unchecked: an unknown member, one that is missing or a list where it may not be, an unknown
/// outcome and a group without tests are failures.
public struct KitGroup: Sendable {
    /// Where the kit lies.
    public static let root = URL(fileURLWithPath: #filePath)  // PACKAGE/Tests/Support/VectorKit/KitGroup.swift
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Data/Vectors/kit", isDirectory: true)

    /// The tests of every group, or why its file cannot be read. Each file is parsed once.
    private static let read = Dictionary(
        uniqueKeysWithValues: all.map { group in
            let file = root.appendingPathComponent("\(group.name).json")
            return (group.name, Result { try group.vectors(in: Data(contentsOf: file)) })
        })

    /// The name of the group.
    public let name: String
    /// Outcomes of what is taken.
    let taken: Set<String>
    /// Outcomes of what is refused, or taken with a part of it withheld.
    let refused: Set<String>
    /// Members that every test has.
    let once: Set<String>
    /// Members that every test with an outcome of `taken` has, and no other.
    let whenTaken: Set<String>
    /// Members that a test may lack.
    let optional: Set<String>
    /// Members that are lists.
    let many: Set<String>
    /// Of those two, the ones that say nothing but with some outcomes: these.
    let bound: [String: Set<String>]
    /// Whether a test with an outcome of `taken` says that a part of its input was not.
    private let withholds: @Sendable (KitVector) -> Bool

    init(
        _ name: String, taken: Set<String>, refused: Set<String>, once: Set<String> = [], whenTaken: Set<String> = [],
        optional: Set<String> = [], many: Set<String> = [], bound: [Set<String>: Set<String>] = [:],
        withholds: @escaping @Sendable (KitVector) -> Bool = { _ in false }
    ) {
        self.name = name
        self.taken = taken
        self.refused = refused
        self.once = once.union(["comment"])
        self.whenTaken = whenTaken
        self.optional = optional
        self.many = many.union(["rules", "pieces"])
        self.bound = Dictionary(
            uniqueKeysWithValues: bound.flatMap { names, outcomes in names.map { ($0, outcomes) } })
        self.withholds = withholds
    }

    /// The names of all members that a test may have besides its name and its body.
    public var members: Set<String> { once.union(whenTaken).union(optional).union(many).union(["expect"]) }

    /// Whether a test shows something that a rule stops.
    public func refuses(_ vector: KitVector) -> Bool {
        !taken.isSuperset(of: vector.all("expect")) || withholds(vector)
    }

    /// Every test, in order.
    public func vectors() throws -> [KitVector] {
        guard let vectors = Self.read[name] else { throw KitVector.Failure("\(name) is no group") }
        return try vectors.get()
    }

    /// The tests of a file.
    func vectors(in file: Data) throws -> [KitVector] {
        guard let file = try JSONSerialization.jsonObject(with: file) as? [String: Any],
            Set(file.keys) == ["group", "shared", "tests"], file["group"] as? String == name,
            let shared = file["shared"] as? [String: Any], let tests = file["tests"] as? [[String: Any]], !tests.isEmpty
        else { throw KitVector.Failure("\(name): not the file of this group, or no tests") }
        let vectors = try tests.map { test in
            try checked(KitVector(group: name, shared.merging(test) { $1 }, lists: many))
        }
        guard Set(vectors.map(\.path)).count == vectors.count else {
            throw KitVector.Failure("\(name): two tests have one name")
        }
        return vectors
    }

    private func checked(_ vector: KitVector) throws -> KitVector {
        func fail(_ fault: String) -> KitVector.Failure { KitVector.Failure("\(vector.path): \(fault)") }
        let names = vector.names
        if let name = names.subtracting(members).min() { throw fail("the member \(name) is not known") }
        if let name = once.union(["expect", "rules"]).subtracting(names).min() { throw fail("no member \(name)") }
        let found = Set(vector.all("expect"))
        if let outcome = found.subtracting(taken).subtracting(refused).min() {
            throw fail("the outcome \(outcome) is not known")
        }
        let isTaken = !found.isDisjoint(with: taken)
        for name in whenTaken.sorted() where names.contains(name) != isTaken {
            throw fail("the member \(name) \(isTaken ? "is missing" : "says nothing of what is refused")")
        }
        for (name, outcomes) in bound where names.contains(name) && found.isDisjoint(with: outcomes) {
            throw fail("the member \(name) says nothing with this outcome")
        }
        return vector
    }
}
