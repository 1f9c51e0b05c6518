internal import Pushcrypt

/// The sealers of one thread, each made once for an app and a placeholder.
struct SealerShelf {
    /// More than anybody has: placeholders that differ from line to line must not fill the memory.
    private static let maximum = 64

    /// What one sealer is for.
    struct Kind: Hashable {
        let topic: Topic
        let placeholder: PlaceholderChoice
    }

    private var sealers: [Kind: Sealer] = [:]
    private var generation = 0

    /// Throws away what was made with other keys, or is too much.
    mutating func prepare(for keys: SealingKeys) {
        if generation != keys.generation || sealers.count > Self.maximum { sealers = [:] }
        generation = keys.generation
    }

    mutating func sealer(_ kind: Kind, _ sender: SealingKeys.Sender) throws(LineFailure) -> Sealer {
        if let sealer = sealers[kind] { return sealer }
        let placeholder: Placeholder
        do throws(SealError) {
            placeholder = try kind.placeholder.otherwise(sender.placeholder).placeholder()
        } catch {
            throw LineFailure(error)
        }
        let sealer = Sealer(signer: sender.signer, topic: kind.topic, placeholder: placeholder)
        sealers[kind] = sealer
        return sealer
    }
}
