internal import Pushcrypt
internal import PushcryptCommandKit

/// What the command line says of every message of a batch.
struct SealBatch: Sendable {
    /// What a line is.
    enum Form {
        /// Objects, each with a payload of its own.
        case messages
        /// Ids, public keys, or objects without a payload.
        case recipients
        /// Ids of devices.
        case devices
    }

    let form: Form
    /// What is sealed for all, where lines bring no payload.
    let payload: ContiguousArray<UInt8>?
    let attachments: [AttachmentReference]
    /// Where a body goes that is too long.
    let overflow: SealOverflow?
    /// The file of a body that is sealed for all.
    let commonFile = SealOverflow.SharedFile()
    let topic: Topic?
    let placeholder: PlaceholderChoice
    let options: Sealer.Options
    let headers: RequestHeaders
    let emission: Emission
    /// Whether an answer says what `--json` says.
    let hasFacts: Bool
    /// Whether a device without a key is sent the payload as it is.
    let passesUnencrypted: Bool
    let log: LogFormat?
    let now: @Sendable () -> Timestamp

    /// The members of a line that are not passed through.
    var names: Set<String> { emission == .request ? SealRequest.names.union(RequestHeaders.names) : SealRequest.names }

    /// The members that an answer may have, besides those of the line's own.
    var reserved: Set<String> {
        // The last two are what somebody may write who has seen an answer, and means push-type and collapse-id.
        var names: Set = ["unencrypted", "shortened", "push_type", "collapse_id"]
        if overflow != nil { names.insert(SealOverflow.File.member) }
        if emission == .request { names.formUnion(RequestHeaders.members) }
        if hasFacts { names.formUnion(SealedPayload.factNames) }
        return names
    }
}
