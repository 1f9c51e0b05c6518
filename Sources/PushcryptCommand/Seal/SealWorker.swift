internal import Pushcrypt
internal import PushcryptKeyStore

/// Seals the lines of a batch, with keys of its own.
final class SealWorker: LineWorker {
    private let batch: SealBatch
    private let keys: SealingKeys
    private let names: Set<String>
    private let reserved: Set<String>
    private var sealers = SealerShelf()

    init(_ batch: SealBatch, _ keys: SealingKeys) {
        self.batch = batch
        self.keys = keys
        names = batch.names
        reserved = batch.reserved
    }

    func answer(_ chunk: LineChunk, inParts write: @escaping Part) -> BatchAnswer {
        var items: [SealItem] = []
        chunk.forEachLine(maximum: BatchLine.maximumLength) {
            items.append(SealItem($0, $1, of: batch, names: names, reserved: reserved))
        }
        var answer = SealAnswer(batch, lines: items.count, inParts: write)
        var rest = items[...]
        do throws(KeyStoreError) {
            try keys.refresh()
            sealers.prepare(for: keys)
            while !rest.isEmpty, answer.isWanted {
                let devices = try keys.devices(for: rest.lazy.map(\.recipient))
                seal(rest, for: devices, into: &answer)
                rest = rest.dropFirst(devices.count)
            }
        } catch {
            // The next chunk may find the store again.
            for item in rest { answer.refuse(item, item.failure ?? LineFailure(error)) }
        }
        return answer.rest
    }

    /// Seals the first lines for the devices of each, as many messages at a time as a signer is asked for.
    private func seal(
        _ items: ArraySlice<SealItem>, for devices: [[Result<SealingKeys.Device, LineFailure>]],
        into answer: inout SealAnswer
    ) {
        var plan = SealPlan(batch)
        for (item, devices) in zip(items, devices) {
            var rest = devices[...]
            repeat {
                let part = rest.prefix(plan.room)
                plan.add(item, part, keys.sender, &sealers)
                rest = rest.dropFirst(part.count)
                if plan.room == 0 {
                    plan.carryOut(into: &answer)
                    plan = SealPlan(batch)
                }
            } while !rest.isEmpty
        }
        plan.carryOut(into: &answer)
    }
}
