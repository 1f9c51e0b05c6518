extension Option {
    /// Whom `seal` seals for.
    static let sealRecipient = [
        Option("--to", "DEVICE", isRequired: true, help: "the device: its id in the store, or its public key (pcr1…)")
    ]
}
