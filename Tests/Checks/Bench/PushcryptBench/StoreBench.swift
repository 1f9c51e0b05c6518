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
    private static let time = Timestamp(milliseconds: 1_790_000_000_000)

    private let store: SQLiteKeyStore
    private let sealer: Sealer
    private let ids: [String]
    private let importSeconds: Double

    /// Makes the store, with ids and keys in no order, as real ones are.
    init(at directory: String, _ suite: CipherSuite = .x25519) throws {
        store = try SQLiteKeyStore.create(in: directory)
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

    /// Microseconds of an import, of finding one device above a seal, of one found in a chunk, and of a seal.
    func sample() throws -> String {
        var next = 0
        var device = try find(ids[0])
        let comparison = try Comparison {
            device = try find(ids[next])
            next = (next + 1) % ids.count
            _ = try sealer.seal(Sealer.Message(LibraryBench.payload), to: device, at: Self.time)
        } against: {
            _ = try sealer.seal(Sealer.Message(LibraryBench.payload), to: device, at: Self.time)
        }
        let importOne = importSeconds * 1e6 / Double(Self.devices)
        let chunks = stride(from: 0, through: ids.count - Self.chunk, by: Self.chunk).map { ids[$0..<$0 + Self.chunk] }
        let times = try chunks.map { chunk in try nanoseconds(1) { try findAll(chunk) } }
        let atOnce = median(times) / 1000 / Double(Self.chunk)
        return "\(importOne) \(comparison.difference / 1000) \(atOnce) \(comparison.yardstick / 1000)"
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

    private func find(_ id: String) throws -> DevicePublicKey {
        guard let record = try store.device(id: id) else {
            throw BenchFailure(what: "self-check: a device is not found")
        }
        return record.publicKey
    }
}
