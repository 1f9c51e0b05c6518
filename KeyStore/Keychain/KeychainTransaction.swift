internal import Pushcrypt

/// One change of a Keychain item, before it is written: what fails on the way is forgotten with it.
final class KeychainTransaction: DeviceStorage, KeyNames {
    private(set) var contents: KeychainContents
    private(set) var isChanged = false

    init(_ contents: KeychainContents) { self.contents = contents }

    private func change(_ body: (inout KeychainContents) -> Void) {
        body(&contents)
        isChanged = true
    }

    // MARK: Names

    var deviceNames: KeychainTransaction { self }
    var kind: KeyKind { .device }

    func exists(_ name: String) -> Bool { contents.keys.contains { StoreName.areEqual($0.name, name) } }

    func hasKeyID(_ id: KeyID) -> Bool { deviceKeyRow(id: id) != nil }

    func all() -> [String] {
        deviceKeyRows().map(\.name).reduce(into: []) { names, name in
            if !(names.last.map { StoreName.areEqual($0, name) } ?? false) { names.append(name) }
        }
    }

    func defaultName() -> String? { contents.defaultName }

    func setDefaultName(_ name: String?) {
        guard name.map({ Bytes($0.utf8) }) != contents.defaultName.map({ Bytes($0.utf8) }) else { return }
        change { $0.defaultName = name }
    }

    // MARK: Device keys

    func deviceKeyRows() -> [KeychainContents.KeyRow] {
        contents.keys.sorted { a, b in
            StoreName.areEqual(a.name, b.name)
                ? a.generation < b.generation : a.name.utf8.lexicographicallyPrecedes(b.name.utf8)
        }
    }

    func deviceKeyRows(_ name: String) -> [KeychainContents.KeyRow] {
        contents.keys.filter { StoreName.areEqual($0.name, name) }
    }

    func deviceKeyRow(id: KeyID) -> KeychainContents.KeyRow? { contents.keys.first { $0.publicKey.id == id } }

    func secret(of row: KeychainContents.KeyRow) -> DeviceKey { row.key }

    func addDeviceKey(
        _ key: DeviceKey, name: String, topic: Topic?, generation: UInt64, state: DeviceKeyRecord.State,
        at now: Timestamp
    ) -> KeychainContents.KeyRow {
        let row = KeychainContents.KeyRow(
            name: name, topic: topic, key: key, generation: generation, state: state, createdAt: now)
        change { $0.keys.append(row) }
        return row
    }

    func move(
        _ row: KeychainContents.KeyRow, to state: DeviceKeyRecord.State, retiresAt: Timestamp?
    ) -> KeychainContents.KeyRow {
        var moved = row
        moved.state = state
        moved.retiresAt = retiresAt
        change { contents in
            for index in contents.keys.indices where contents.keys[index].publicKey == row.publicKey {
                contents.keys[index] = moved
            }
        }
        return moved
    }

    func delete(_ row: KeychainContents.KeyRow) {
        change { $0.keys.removeAll { $0.publicKey == row.publicKey } }
    }

    // MARK: Trusted senders

    func trustedSenders() -> [TrustedSenderRow] { contents.senders }

    func newSenderNumber() throws(KeyStoreError) -> Int64 {
        let (number, overflow) = (contents.senders.last?.id ?? 0).addingReportingOverflow(1)
        guard !overflow else { throw KeychainContents.damaged }
        return number
    }

    func put(_ row: TrustedSenderRow) {
        change { contents in
            if let index = contents.senders.firstIndex(where: { $0.id == row.id }) {
                contents.senders[index] = row
            } else {
                contents.senders.append(row)
            }
        }
    }

    func delete(_ row: TrustedSenderRow) {
        change { $0.senders.removeAll { $0.id == row.id } }
    }
}
