import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Where the tests of this process put their files; removed when it ends.
///
/// In memory where the system has a place for that: a change that waits for a disk takes milliseconds.
private let playground: Result<String, Scratch.Unavailable> = {
    let parent = unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var template = Array("\(parent)/pushcrypt-test-XXXXXX".utf8CString)
    return unsafe template.withUnsafeMutableBufferPointer { buffer in
        guard let base = buffer.baseAddress, let made = unsafe mkdtemp(base) else {
            return .failure(Scratch.Unavailable())
        }
        atexit { if case .success(let path) = playground { remove(path) } }
        return unsafe .success(String(cString: made))
    }
}()

/// A directory of a test's own, which outlives the test.
struct Scratch: Sendable {
    let path: String

    init() throws {
        path = "\(try playground.get())/\(UInt64.random(in: 0 ... .max))"
        try #require(unsafe mkdir(path, 0o700) == 0)
    }

    /// The system refuses a test what it needs.
    struct Unavailable: Error {}

    var store: String { path + "/store" }

    /// A file of the store.
    func file(_ name: String) -> String { "\(store)/\(name)" }

    /// The bytes of every file of the store.
    func bytes() throws -> Bytes {
        var all = Bytes()
        for name in try names() { all += try readFile(file(name)) }
        return all
    }

    func names() throws -> [String] { try list(store).sorted() }
}

func list(_ directory: String) throws -> [String] {
    guard let stream = unsafe opendir(directory) else { throw Scratch.Unavailable() }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
        let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { buffer in
            unsafe String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != ".", name != ".." { names.append(name) }
    }
    return names
}

private func remove(_ path: String) {
    if unsafe unlink(path) == 0 { return }
    for name in (try? list(path)) ?? [] { remove("\(path)/\(name)") }
    unsafe rmdir(path)
}

func readFile(_ path: String) throws -> Bytes {
    let descriptor = unsafe open(path, O_RDONLY)
    try #require(descriptor >= 0, "cannot open \(path)")
    defer { close(descriptor) }
    var bytes = Bytes()
    var buffer = Bytes(repeating: 0, count: 1 << 16)
    while true {
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        try #require(count >= 0)
        if count == 0 { return bytes }
        bytes += buffer.prefix(count)
    }
}

/// Replaces a file's content in place.
func writeFile(_ path: String, _ bytes: Bytes) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    try #require(descriptor >= 0, "cannot open \(path)")
    defer { close(descriptor) }
    let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    try #require(count == bytes.count)
}

func mode(of path: String) -> mode_t {
    var facts = stat()
    return unsafe lstat(path, &facts) == 0 ? facts.st_mode & 0o7777 : 0
}

extension Bytes {
    /// Where `needle` begins, or nil.
    func firstRange(of needle: Bytes) -> Range<Int>? {
        guard let first = needle.first else { return nil }
        var position = startIndex
        while let found = self[position...].firstIndex(of: first), count - found >= needle.count {
            if self[found..<found + needle.count].elementsEqual(needle) { return found..<found + needle.count }
            position = found + 1
        }
        return nil
    }

    /// Faster than `firstRange` in tests, which are not optimised.
    func contains(_ needle: Bytes) -> Bool {
        unsafe withUnsafeBytes { bytes in
            unsafe needle.withUnsafeBytes { needle in
                guard let start = bytes.baseAddress, let first = needle.baseAddress else { return false }
                var place = 0
                while place + needle.count <= bytes.count,
                    let found = unsafe memchr(
                        start + place, Int32(needle[0]), bytes.count - needle.count - place + 1)
                {
                    if unsafe memcmp(found, first, needle.count) == 0 { return true }
                    place = unsafe UnsafeRawPointer(found) - start + 1
                }
                return false
            }
        }
    }
}

/// The code that a call throws, or nil when it throws none.
func code<R>(_ body: () throws -> R) -> KeyStoreError.Code? { error(body)?.code }

func error<R>(_ body: () throws -> R) -> KeyStoreError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? KeyStoreError
    }
}

extension DevicePublicKey {
    /// A key for each number, for tests of many devices.
    static func numbered(_ number: Int) -> DevicePublicKey {
        var bytes = Bytes(repeating: 0x42, count: 32)
        for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
        return DevicePublicKey(checked: bytes)
    }

    /// A key of suite 2 that any build can store.
    static func postQuantum(_ byte: UInt8 = 9) throws -> DevicePublicKey {
        let bytes = Bytes(repeating: 0, count: 1184) + [byte] + Bytes(repeating: 0, count: 31)
        return try DevicePublicKey(bytes: bytes.span)
    }
}

// MARK: Stores

/// The store on disk and the one in memory are the same code; every rule is checked on both.
enum StoreKind: CaseIterable, Sendable {
    case disk
    case memory
}

struct Home: Sendable {
    let scratch: Scratch
    let store: SQLiteKeyStore

    init(_ kind: StoreKind = .disk, options: StoreOptions = .quick) throws {
        scratch = try Scratch()
        switch kind {
        case .disk: store = try .create(in: scratch.store, passphrase: nil, options: options)
        case .memory: store = try .inMemory(options: options)
        }
    }

    /// Another process's view of the store, as far as SQLite can tell.
    func reopened(options: StoreOptions = .quick) throws -> SQLiteKeyStore {
        try .open(in: scratch.store, passphrase: nil, options: options)
    }

    /// The sealed form of a state; nil if there is none.
    func sealed(_ state: String = ProviderState.row) throws -> Bytes? {
        let rows = try raw().rows("SELECT sealed FROM states WHERE name = ?", [.text(state)])
        guard case .blob(let sealed)? = rows.first?.first else { return nil }
        return sealed
    }

    /// Whether the nonce, the begin or the end of a sealed state is in a file. What is longer than a page is not in one piece.
    func holds(_ sealed: Bytes) throws -> Bool {
        let bytes = try scratch.bytes()
        return [Bytes(sealed[..<24]), Bytes(sealed[24..<56]), Bytes(sealed.suffix(16))].contains(where: bytes.contains)
    }

    /// The database without the rules of the store: what somebody sees who can write the file.
    func raw() throws -> SQLiteConnection {
        try SQLiteConnection(path: scratch.file("keystore.db"), busyTimeout: 0)
    }
}

extension StoreOptions {
    /// Passphrases at the lowest cost, and enough time for others on any machine.
    static var quick: StoreOptions {
        var options = StoreOptions()
        options.cost = StoreKDF.Cost(passes: 1, memory: 8 << 10) ?? .standard
        options.busyTimeout = patience
        return options
    }

    /// The same for tests of a store that stays busy.
    static var impatient: StoreOptions {
        var options = quick
        options.busyTimeout = 20
        return options
    }

    /// Ten minutes, in milliseconds.
    static let patience: Int32 = 600_000
}

// MARK: Values

let start = Timestamp(milliseconds: 1_800_000_000_000)

extension Timestamp {
    static func + (time: Timestamp, seconds: UInt64) -> Timestamp { time.adding(.seconds(seconds)) }
    /// One millisecond later.
    var next: Timestamp { adding(milliseconds: 1) }
}

extension Topic {
    static var app: Topic { get throws { try Topic("com.example.app") } }
    static var other: Topic { get throws { try Topic("com.example.other") } }
}

extension DeviceKey {
    var scalar: Bytes { withScalar { Bytes(copying: $0) } }
}

extension ProviderKey {
    var seed: Bytes { withSeed { Bytes(copying: $0) } }
}

extension MessageID {
    init(_ number: UInt64) {
        var bytes = Bytes(repeating: 0, count: 8)
        bytes.append(bigEndian: number)
        guard let id = MessageID(bytes: bytes.span) else { preconditionFailure() }
        self = id
    }
}

extension SQLiteKeyStore {
    /// The record of each id, all in one snapshot.
    func devices(_ ids: [String]) throws(KeyStoreError) -> [Result<DeviceRecord, KeyStoreError>] {
        try readDevices { (reader) throws(KeyStoreError) in
            var devices: [Result<DeviceRecord, KeyStoreError>] = []
            for id in ids {
                do throws(KeyStoreError) {
                    devices.append(.success(try reader.device(id: id)))
                } catch {
                    guard error.concernsOneDevice else { throw error }
                    devices.append(.failure(error))
                }
            }
            return devices
        }
    }
}
