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

    func answer(_ chunk: LineChunk) -> BatchAnswer {
        var items: [SealItem] = []
        chunk.forEachLine(maximum: BatchLine.maximumLength) {
            items.append(SealItem($0, $1, of: batch, names: names, reserved: reserved))
        }
        var answer = SealAnswer(batch, lines: items.count)
        do throws(KeyStoreError) {
            try keys.refresh()
            let devices = try keys.devices(for: items.map(\.recipient))
            sealers.prepare(for: keys)
            var plan = SealPlan(batch)
            for (item, devices) in zip(items, devices) { plan.add(item, devices, keys.sender, &sealers) }
            plan.carryOut(into: &answer)
        } catch {
            // The next chunk may find the store again.
            for item in items { answer.refuse(item, item.failure ?? LineFailure(error)) }
        }
        return answer.answer
    }
}
