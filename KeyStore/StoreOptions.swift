package import Pushcrypt

/// Options for tests.
package struct StoreOptions: Sendable {
    package var cost = StoreKDF.Cost.standard
    /// How long a call waits for other writers, in milliseconds: an import or a backup takes a while.
    package var busyTimeout: Int32 = 120_000
    /// The number of pages at which the database counts as a full disk.
    package var maximumPages: Int?

    package init() {}
}
