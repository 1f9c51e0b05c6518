import Pushcrypt

@testable import PushcryptKeyStore

/// A guard's rows in memory.
struct MemoryRows: ReplayStorage {
    private struct Group: Hashable {
        let provider: ProviderPublicKey
        let account: Bytes

        init(_ message: ReplayMessage) { (provider, account) = (message.provider, message.account) }
    }

    private struct Entry {
        let request: Bytes
        var state: ReplayRow.State
        var epoch: UInt32
        var sentAt: Timestamp
        var expiresAt: Timestamp
    }

    private static let zero = Timestamp(milliseconds: 0)

    var floorOfAll = zero
    private var floors: [Group: ReplayFloor] = [:]
    private var trustFloors: [Group: UInt32] = [:]
    private var times: [Group: Timestamp] = [:]
    private var entries: [Group: [MessageID: Entry]] = [:]

    func row(of message: ReplayMessage) throws(Never) -> ReplayRow? {
        entries[Group(message)]?[message.id].map { ReplayRow(request: $0.request, state: $0.state, epoch: $0.epoch) }
    }

    func guardFloor() throws(Never) -> Timestamp { floorOfAll }

    func floor(of message: ReplayMessage) throws(Never) -> ReplayFloor { floors[Group(message)] ?? .none }

    func trustFloor(of message: ReplayMessage) throws(Never) -> UInt32 { trustFloors[Group(message)] ?? 0 }

    func count(of message: ReplayMessage) throws(Never) -> Int { entries[Group(message)]?.count ?? 0 }

    func highest(of message: ReplayMessage) throws(Never) -> Timestamp { times[Group(message)] ?? Self.zero }

    mutating func removeGuardFloor() throws(Never) { floorOfAll = Self.zero }

    mutating func insert(_ message: ReplayMessage, _ state: ReplayRow.State) throws(Never) {
        entries[Group(message), default: [:]][message.id] = Entry(
            request: message.request, state: state, epoch: message.epoch, sentAt: message.sentAt,
            expiresAt: message.expiresAt)
    }

    mutating func extend(_ message: ReplayMessage) throws(Never) {
        guard var entry = entries[Group(message)]?[message.id] else { return }
        entry.epoch = max(entry.epoch, message.epoch)
        entry.sentAt = max(entry.sentAt, message.sentAt)
        entry.expiresAt = max(entry.expiresAt, message.expiresAt)
        entries[Group(message)]?[message.id] = entry
    }

    mutating func set(_ state: ReplayRow.State, of message: ReplayMessage) throws(Never) {
        entries[Group(message)]?[message.id]?.state = state
    }

    mutating func raiseHighest(to message: ReplayMessage) throws(Never) {
        times[Group(message)] = max(times[Group(message)] ?? Self.zero, message.sentAt)
    }

    mutating func dropEnded(before time: Timestamp, of message: ReplayMessage) throws(Never) {
        entries[Group(message)] = entries[Group(message)]?.filter { $0.value.expiresAt >= time }
    }

    mutating func dropEarliest(of message: ReplayMessage) throws(Never) -> ReplayFloor {
        let earliest = entries[Group(message)]?.min { $0.value.sentAt < $1.value.sentAt }
        guard let earliest else { return .none }
        entries[Group(message)]?[earliest.key] = nil
        return ReplayFloor(time: earliest.value.sentAt, epoch: earliest.value.epoch)
    }

    mutating func setFloor(_ floor: ReplayFloor, of message: ReplayMessage) throws(Never) {
        floors[Group(message)] = floor
    }

    mutating func dropDistrusted(of message: ReplayMessage) throws(Never) {
        entries[Group(message)] = entries[Group(message)]?.filter { $0.value.epoch >= message.trustFloor }
        trustFloors[Group(message)] = message.trustFloor
    }
}
