public import Foundation

/// A folder of the test kit: which headers its files have, and what may come of them.
///
/// What is not checked must not pass: an unknown header, one that is missing or stands twice where it may not, an unknown
/// outcome and a folder without files are failures.
public struct KitFolder: Sendable {
    /// Where the kit lies.
    public static let root = URL(fileURLWithPath: #filePath)  // PACKAGE/Tests/Support/VectorKit/KitFolder.swift
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Data/Vectors/kit", isDirectory: true)

    /// The name of the folder.
    public let name: String
    /// Outcomes of what is taken.
    let taken: Set<String>
    /// Outcomes of what is refused, or taken with a part of it withheld.
    let refused: Set<String>
    /// Headers that stand once in every file.
    let once: Set<String>
    /// Headers that stand once in every file with an outcome of `taken`, and in no other.
    let whenTaken: Set<String>
    /// Headers that stand once at most.
    let optional: Set<String>
    /// Headers that stand as often as they like.
    let many: Set<String>
    /// Of those two, the ones that say nothing but with some outcomes: these.
    let bound: [String: Set<String>]
    /// Whether a file with an outcome of `taken` says that a part of its input was not.
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
        self.optional = optional.union(["encoding"])
        self.many = many.union(["rule"])
        self.bound = Dictionary(
            uniqueKeysWithValues: bound.flatMap { names, outcomes in names.map { ($0, outcomes) } })
        self.withholds = withholds
    }

    /// The names of all headers that a file may have.
    public var headers: Set<String> { once.union(whenTaken).union(optional).union(many).union(["expect"]) }

    /// Whether a file shows something that a rule stops.
    public func refuses(_ vector: KitVector) -> Bool {
        !taken.isSuperset(of: vector.all("expect")) || withholds(vector)
    }

    /// Every file, in order.
    public func vectors(under root: URL = KitFolder.root) throws -> [KitVector] {
        let folder = root.appendingPathComponent(name, isDirectory: true)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        guard !files.isEmpty else { throw KitVector.Failure("\(name) has no files") }
        return try files.map { file in
            guard file.hasSuffix(".txt") else { throw KitVector.Failure("\(name)/\(file) is no vector") }
            let bytes = ContiguousArray(try Data(contentsOf: folder.appendingPathComponent(file)))
            return try checked(KitVector(path: "\(name)/\(file)", bytes))
        }
    }

    private func checked(_ vector: KitVector) throws -> KitVector {
        func fail(_ fault: String) -> KitVector.Failure { KitVector.Failure("\(vector.path): \(fault)") }
        let names = vector.names
        let known = headers
        for (name, count) in names.sorted(by: { $0.key < $1.key }) {
            guard known.contains(name) else { throw fail("the header \(name) is not known") }
            guard count == 1 || many.contains(name) else { throw fail("the header \(name) stands \(count) times") }
        }
        for name in once.union(["expect", "rule"]).sorted() where names[name] == nil { throw fail("no header \(name)") }
        let found = Set(vector.all("expect"))
        for outcome in found.subtracting(taken).subtracting(refused).sorted() {
            throw fail("the outcome \(outcome) is not known")
        }
        let isTaken = !found.isDisjoint(with: taken)
        for name in whenTaken.sorted() where (names[name] != nil) != isTaken {
            throw fail("the header \(name) \(isTaken ? "is missing" : "says nothing of what is refused")")
        }
        for (name, outcomes) in bound where names[name] != nil && found.isDisjoint(with: outcomes) {
            throw fail("the header \(name) says nothing with this outcome")
        }
        return vector
    }
}
