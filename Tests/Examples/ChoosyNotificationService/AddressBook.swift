nonisolated enum AddressBook {
    @Sendable static func name(_ id: String) -> String? { nil }
}
