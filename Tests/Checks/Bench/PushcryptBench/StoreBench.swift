import Pushcrypt
import PushcryptKeyStore
import Seed

/// A provider's store with a million devices: how fast it takes them in, and what finding one adds to a seal.
struct StoreBench {
    private static let devices = 1_000_000
    /// The store sorts a batch by id, so that a larger one writes a page less often.
    private static let batch = 100_000
    /// Devices that the lookups ask for, spread evenly over the import.
    private static let asked = 5_000
    /// The devices that a worker of `seal --batch` looks up in one snapshot.
    private static let chunk = 256
    /// What an import and a lookup may take, as shares of a seal, so that a slow day of the machine does not decide: 50,000
    /// devices a second and 10 µs where a seal takes 90 µs.
    private struct Limits {
        var importShare = 20 / 90.0
        var chunkShare = 10 / 90.0
        var shareOfSeal = 0.125
        /// What a million devices may take on the disk, in MB.
        var size = 400.0
    }

    /// A key of suite 2 has its own page, because SQLite keeps a quarter of a page of a row without a rowid in the tree.
    private static let suite2 = Limits(importShare: 0.65, chunkShare: 0.5, shareOfSeal: 0.5, size: 5500)
    private static let time = Timestamp(milliseconds: 1_790_000_000_000)

    private let suite: CipherSuite
    private let size: Double
    private let store: SQLiteKeyStore
    private let sealer: Sealer
    private let ids: [String]
    private let importSeconds: Double

    /// Makes the store, with ids and keys in no order, as real ones are.
    init(at directory: String, _ suite: CipherSuite = .x25519) throws {
        self.suite = suite
        store = try SQLiteKeyStore.create(in: directory, at: Self.time)
        sealer = Sealer(provider: ProviderKey(), topic: try Topic("com.example.app"))
        var ids: [String] = []
        var nanoseconds: UInt64 = 0
        for first in stride(from: 0, to: Self.devices, by: Self.batch) {
            let batch = try (first..<first + Self.batch).map { try Self.device($0, suite) }
            let start = now()
            let result = try store.importDevices(batch.map(\.change), at: Self.time)
            nanoseconds += now() - start
            guard result.added == batch.count else { throw BenchFailure(what: "self-check: a device was not imported") }
            ids += stride(from: 0, to: batch.count, by: Self.devices / Self.asked).map { batch[$0].id }
        }
        self.ids = ids.shuffled()
        importSeconds = Double(nanoseconds) / 1e9
        size = try ["keystore.db", "keystore.db-wal"].map { try megabytes(of: "\(directory)/\($0)") }.reduce(0, +)
    }

    /// A device like those of a provider that names them by UUIDs: the same in each run, so that runs can be compared.
    private static func device(_ number: Int, _ suite: CipherSuite) throws -> (id: String, change: DeviceChange) {
        var random = Seed(UInt64(number))
        let id = id(of: number)
        var key = ContiguousArray<UInt8>()
        switch suite {
        // No bit 7 anywhere: below 2^255 - 19, and as good a key as any.
        case .x25519: for _ in 0..<32 { key.append(UInt8.random(in: 0...127, using: &random)) }
        // Nor a bit 3: every coefficient is below 3329.
        case .xwing: for _ in 0..<152 { key.append(bigEndian: random.next() & 0x7777_7777_7777_7777) }
        }
        return (
            id,
            .registered(id: id, DeviceRegistration(publicKey: try DevicePublicKey(bytes: key.span), createdAt: time))
        )
    }

    func printRows() throws {
        var next = 0
        var device = try find(ids[0])
        let comparison = try Comparison {
            device = try find(ids[next])
            next = (next + 1) % ids.count
            _ = try sealer.seal(LibraryBench.payload, to: device, at: Self.time)
        } against: {
            _ = try sealer.seal(LibraryBench.payload, to: device, at: Self.time)
        }
        let seal = comparison.yardstick / 1000
        let importOne = importSeconds * 1e6 / Double(Self.devices)
        let name = suite == .x25519 ? "" : ", suite 2"
        let limits = suite == .x25519 ? Limits() : Self.suite2
        Table.printRatio(
            "import, each of 1,000,000" + (name.isEmpty ? " devices" : name), importOne, against: seal, "a seal",
            ratio: importOne / seal,
            limit: limits.importShare, unit: "µs")
        Table.printRatio(
            "one of them found, above a seal" + name, comparison.difference / 1000, against: seal, "a seal",
            ratio: comparison.difference / comparison.yardstick, limit: limits.shareOfSeal, unit: "µs")
        let chunks = stride(from: 0, through: ids.count - Self.chunk, by: Self.chunk).map { ids[$0..<$0 + Self.chunk] }
        let times = try chunks.map { chunk in try nanoseconds(1) { try findAll(chunk) } }
        let one = median(times) / 1000 / Double(Self.chunk)
        Table.printRatio(
            "one of \(Self.chunk) found at once" + name, one, against: seal, "a seal", ratio: one / seal,
            limit: limits.chunkShare, unit: "µs")
        Table.printAmount("their store" + name, size, atMost: limits.size, unit: "MB")
    }

    private func findAll(_ ids: ArraySlice<String>) throws {
        let found = try store.readDevices { (reader) throws(KeyStoreError) in
            var found = 0
            for id in ids where try reader.device(id: id).id == id { found += 1 }
            return found
        }
        guard found == ids.count else { throw BenchFailure(what: "self-check: a device is not found") }
    }

    /// The id of a device: 32 hexadecimal digits.
    private static func id(of number: Int) -> String {
        var random = Seed(~UInt64(number))
        var bytes = ContiguousArray<UInt8>()
        for _ in 0..<2 { bytes.append(bigEndian: random.next()) }
        return bytes.hex
    }

    /// Finds so many devices of a store that this bench has made, one at a time; at most `asked`.
    static func find(_ count: Int, at directory: String) throws {
        let store = try SQLiteKeyStore.open(in: directory)
        // Always as many ids, so that they cost the same whatever the count. A prime, so that one is far from the next.
        let ids = (0..<asked).map { id(of: $0 * 7919 % devices) }
        for id in ids.prefix(count) {
            guard try store.device(id: id) != nil else {
                throw BenchFailure(what: "self-check: a device is not found")
            }
        }
    }

    private func find(_ id: String) throws -> DevicePublicKey {
        guard let record = try store.device(id: id) else {
            throw BenchFailure(what: "self-check: a device is not found")
        }
        return record.publicKey
    }
}
