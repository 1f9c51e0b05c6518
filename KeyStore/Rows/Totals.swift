internal import Pushcrypt

/// The tables whose rows are counted, in the order of the totals. Those of single rows are not: a missing one is noticed.
enum CountedTable: Int, CaseIterable {
    case deviceKeys, pins, learnedTrust, providerKeys, pastEpochs, certificateRequests, devices, removedDevices
    case answerSecrets, replacedKeys, answers
}

/// What shows that a list of rows is whole: their number, and a sum modulo 2^256 that other rows do not have.
///
/// Each row adds a value that only the store key gives, so nobody else can find rows with the same sum.
struct TableTotal: Equatable {
    static let length = 40
    private(set) var count: UInt64 = 0
    /// Four words, the lowest first.
    private var sum = SIMD4<UInt64>()

    mutating func add(_ mac: Bytes) { add(Self.words(mac.span), 1) }

    mutating func subtract(_ mac: Bytes) {
        count &-= 1
        var borrow: UInt64 = 0
        for (index, word) in Self.words(mac.span).indexed {
            let (partial, first) = sum[index].subtractingReportingOverflow(word)
            let (difference, second) = partial.subtractingReportingOverflow(borrow)
            sum[index] = difference
            borrow = first || second ? 1 : 0
        }
    }

    mutating func add(_ other: TableTotal) { add(other.sum, other.count) }

    private mutating func add(_ words: SIMD4<UInt64>, _ count: UInt64) {
        self.count &+= count
        var carry: UInt64 = 0
        for (index, word) in words.indexed {
            let (partial, first) = sum[index].addingReportingOverflow(word)
            let (total, second) = partial.addingReportingOverflow(carry)
            sum[index] = total
            carry = first || second ? 1 : 0
        }
    }

    private static func words(_ bytes: Span<UInt8>) -> SIMD4<UInt64> {
        var words = SIMD4<UInt64>()
        for index in 0..<32 { words[3 - index / 8] = words[3 - index / 8] << 8 | UInt64(bytes[index]) }
        return words
    }

    // MARK: Bytes

    init() {}

    /// Reads a count and a sum, both big-endian.
    init(bytes: Span<UInt8>) {
        for index in 0..<8 { count = count << 8 | UInt64(bytes[index]) }
        sum = Self.words(bytes.extracting(8..<Self.length))
    }

    func append(to bytes: inout Bytes) {
        bytes.append(bigEndian: count)
        for index in 0..<4 { bytes.append(bigEndian: sum[3 - index]) }
    }
}

extension SIMD4<UInt64> {
    fileprivate var indexed: [(Int, UInt64)] { (0..<4).map { ($0, self[$0]) } }
}

/// What a transaction has changed of the totals.
final class TotalChanges {
    fileprivate var totals = [TableTotal?](repeating: nil, count: CountedTable.allCases.count)

    func change(_ table: CountedTable, _ body: (inout TableTotal) -> Void) {
        var total = totals[table.rawValue] ?? TableTotal()
        body(&total)
        totals[table.rawValue] = total
    }
}

/// The single row with the totals of every table. It is sealed: from the sums before and after a change, someone who may
/// write the database could compute the values of rows, and find others with the same sum.
///
/// Only whole lists are compared with the totals. A change subtracts the row that it finds, and does not ask whether that is
/// the one that was added. So the difference is not noticed if someone hides a row while the store deletes it, and puts it
/// back afterwards, or hides it while the store replaces it, which later deletes the newer row. As long as neither is
/// deleted, every list finds a difference; an older row never counts as the newest.
struct TotalsRow: StoredRow {
    static let table = StoreTable("totals", key: "id", "sealed")
    static let put = table.put
    static let id: Int64 = 1
    private static let place = StoreKeys.Place(table: table.name, row: id, generation: 0, state: 0)

    private let sealed: Bytes

    init(_ totals: [TableTotal], _ keys: StoreKeys) {
        var bytes = Bytes()
        for total in totals { total.append(to: &bytes) }
        sealed = keys.seal(bytes.span, at: Self.place)
    }

    /// The totals of a new store.
    static func empty(_ keys: StoreKeys) -> TotalsRow {
        TotalsRow([TableTotal](repeating: TableTotal(), count: CountedTable.allCases.count), keys)
    }

    init(_ columns: inout ColumnReader) throws(KeyStoreError) {
        guard try columns.integer() == Self.id else { throw columns.damaged }
        sealed = try columns.blob()
    }

    var values: [SQLiteValue] { [.integer(Self.id), .blob(sealed)] }

    func totals(_ keys: StoreKeys) throws(KeyStoreError) -> [TableTotal] {
        let count = CountedTable.allCases.count
        let totals = try? keys.open(sealed, at: Self.place).withSpan { bytes -> [TableTotal]? in
            guard bytes.count == count * TableTotal.length else { return nil }
            return (0..<count).map {
                TableTotal(bytes: bytes.extracting($0 * TableTotal.length..<($0 + 1) * TableTotal.length))
            }
        }
        guard let totals else { throw .damagedRow(.integer(Self.id), in: Self.table.name) }
        return totals
    }

    func checkSecret(_ keys: StoreKeys) throws(KeyStoreError) { _ = try totals(keys) }
}

extension StoreTransaction {
    /// Notes that a row was written or deleted, instead of the one that was there.
    func noteChange<Row: StoredRow>(
        to new: (key: SQLiteValue, tag: Bytes)?, from old: (key: SQLiteValue, tag: Bytes)?, of _: Row.Type
    ) {
        guard let table = Row.counted, new != nil || old != nil else { return }
        guard let changes else { preconditionFailure("a row is changed outside a transaction that writes") }
        changes.change(table) { total in
            if let old { total.subtract(keys.total(of: old.key, old.tag.span, in: Row.table.name)) }
            if let new { total.add(keys.total(of: new.key, new.tag.span, in: Row.table.name)) }
        }
    }

    /// Adds the changes to the totals, at the end of a transaction.
    func noteTotals() throws(KeyStoreError) {
        guard let changes, changes.totals.contains(where: { $0 != nil }) else { return }
        do throws(KeyStoreError) {
            var totals = try totals()
            for (index, change) in changes.totals.enumerated() {
                if let change { totals[index].add(change) }
            }
            try put(TotalsRow(totals, keys))
        } catch {
            // Damaged totals must not stop a registration: every list reports them.
            guard error.concernsOneRow else { throw error }
        }
    }

    private func totals() throws(KeyStoreError) -> [TableTotal] {
        guard let row: TotalsRow = try row(key: .integer(TotalsRow.id)) else {
            throw .damagedRow(.integer(TotalsRow.id), in: TotalsRow.table.name)
        }
        return try row.totals(keys)
    }

    /// Throws `corruptStore` if a whole list of a table has not the rows that were written.
    func check<Row: StoredRow>(_ list: TableTotal, isAll _: Row.Type) throws(KeyStoreError) {
        guard let table = Row.counted else { return }
        let total = try totals()[table.rawValue]
        guard list != total else { return }
        let found =
            list.count == total.count ? "other rows than were written" : "\(list.count) rows, not \(total.count)"
        throw KeyStoreError(
            .corruptStore,
            "table \(Row.table.name) has \(found): the file is damaged or was changed; restore it from a backup")
    }

    /// Counts the rows that are in a table now.
    func total<Row: StoredRow>(of _: Row.Type) throws(KeyStoreError) -> TableTotal {
        var total = TableTotal()
        _ = try connection.rows("SELECT \(Row.table.key), tag FROM \(Row.table.name)", []) { row in
            total.add(keys.total(of: row, tag: 1, in: Row.table.name))
        }
        return total
    }
}

/// A list of all rows of a table that is read page by page, while others change the store.
struct WholeList: Sendable {
    private var total = TableTotal()
    /// The state of the store when the list began.
    private var start: (others: Int64, own: Int32)?

    mutating func begin(_ connection: SQLiteConnection) throws(KeyStoreError) {
        if start == nil { start = try connection.state() }
    }

    mutating func add(_ page: TableTotal) { total.add(page) }

    /// Throws `corruptStore` if the list is not whole. If the store has changed since it began, checks all rows as they are
    /// now.
    func check<Row: StoredRow>(_ type: Row.Type, in store: StoreTransaction) throws(KeyStoreError) {
        let now = try store.connection.state()
        let isSame = start.map { $0 == now } ?? false
        try store.check(isSame ? total : store.total(of: type), isAll: type)
    }
}
