/// The members at the top level of a payload that are not the app's own.
package enum PayloadKeys {
    /// What Apple defines.
    package static let aps = "aps"
    /// What holds an envelope.
    package static let encryptedData = "ENCRYPTED_DATA"
    /// What this format keeps for itself inside a sealed payload; it holds the keys of attachments and of a full body.
    package static let reserved = "pushcrypt"

    /// All of them.
    package static let all = [aps, encryptedData, reserved]
}
