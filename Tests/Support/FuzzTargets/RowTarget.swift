import Pushcrypt

@testable import PushcryptKeyStore

/// A row of a store. A changed row is not used unless its author has the store's keys.
///
/// Input: which row, read as a row of which table, whether the tag is recomputed; then changes of the columns. After the last row
/// come the states.
struct RowTarget: FuzzTarget {
    static let name = "row"

    private let scene = RowScene()
    private let device = StateScene<DeviceState>.device
    private let provider = StateScene<ProviderState>.provider

    func run(_ input: Bytes) {
        var choices = Choices(input)
        let number = choices.number(below: scene.rows.count + 2)
        if number == scene.rows.count { return device.run(&choices) }
        if number > scene.rows.count { return provider.run(&choices) }
        let row = scene.rows[number]
        let (other, form) = (choices.number(below: scene.rows.count), choices.byte())
        let reader = form & 1 == 0 ? row.reader : scene.rows[other].reader
        let isTagged = form & 2 != 0
        var values = row.values
        for _ in 0..<6 where !choices.isEmpty { change(&values, &choices) }
        if isTagged { values = scene.tagged(Array(values.dropLast()), as: reader) }

        guard let written = try? scene.read(values, as: reader) else {
            require(values != row.values || form & 1 != 0, "row: a row as it was written is used")
            return
        }
        if isTagged {
            require(
                (try? scene.read(scene.tagged(written, as: reader), as: reader)) == written,
                "row: what was read is written and read again")
        } else {
            require(values == row.values, "row: a changed row is not used")
            require(reader.table == row.reader.table, "row: a row is of one table")
        }
    }

    /// Changes one column, or how many there are.
    private func change(_ values: inout [SQLiteValue], _ choices: inout Choices) {
        let kind = choices.byte()
        guard !values.isEmpty else { return }
        let column = choices.number(below: values.count)
        switch kind & 7 {
        case 0: values[column] = .null
        case 1: values[column] = .integer(choices.integer())
        case 2: values[column] = .text(choices.bytes(Int(choices.byte() & 63)))
        case 3: values[column] = .blob(choices.bytes(Int(choices.byte() & 63)))
        case 4: values[column] = edited(values[column], &choices)
        case 5:
            let other = scene.rows[choices.number(below: scene.rows.count)].values
            values[column] = other[choices.number(below: other.count)]
        case 6: values.remove(at: column)
        default: values.insert(.null, at: column)
        }
    }

    private func edited(_ value: SQLiteValue, _ choices: inout Choices) -> SQLiteValue {
        switch value {
        case .null: return .null
        case .integer(let integer): return .integer(integer ^ Int64(1) << Int64(choices.byte() & 63))
        case .text(var bytes):
            bytes.edit(&choices)
            return .text(bytes)
        case .blob(var bytes):
            bytes.edit(&choices)
            return .blob(bytes)
        }
    }
}
