public import Foundation

/// A folder of the test kit: which headers its files have, and what may come of them.
///
/// What is not looked at must not pass: an unknown header, one that is missing or stands twice where it may not, an unknown
/// outcome and a folder without files are failures.
public struct KitFolder: Sendable {
    /// Where the kit lies.
    public static let root = URL(fileURLWithPath: #filePath)  // PACKAGE/Tests/Support/VectorKit/KitFolder.swift
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Vectors/kit", isDirectory: true)

    /// The name of the folder.
    public let name: String
    let outcomes: Set<String>
    /// Headers that stand once in every file.
    let once: Set<String>
    /// Headers that stand once at most.
    let optional: Set<String>
    /// Headers that stand as often as they like.
    let many: Set<String>

    init(
        _ name: String, _ outcomes: Set<String>, once: Set<String> = [], optional: Set<String> = [],
        many: Set<String> = []
    ) {
        self.name = name
        self.outcomes = outcomes
        self.once = once.union(["comment"])
        self.optional = optional.union(["encoding"])
        self.many = many.union(["rule"])
    }

    /// The names of all headers that a file may have.
    public var headers: Set<String> { once.union(optional).union(many).union(["expect"]) }

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
        for outcome in vector.all("expect") where !outcomes.contains(outcome) {
            throw fail("the outcome \(outcome) is not known")
        }
        return vector
    }
}
