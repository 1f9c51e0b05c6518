internal import Pushcrypt
internal import PushcryptKeyStore

/// Seals the lines of a batch, with keys of its own.
final class SealWorker: LineWorker {
    private let batch: SealBatch
    private let keys: SealingKeys
    private let names: Set<String>
    private let reserved: Set<String>
    private var sealers: [SealerKind: Sealer] = [:]
    private var sealersGeneration = 0

    /// More than anybody has: placeholders that differ from line to line must not fill the memory.
    private static let maximumSealers = 64

    /// What one sealer is for.
    private struct SealerKind: Hashable {
        let topic: Topic
        let placeholder: PlaceholderChoice
    }

    init(_ batch: SealBatch, _ keys: SealingKeys) {
        self.batch = batch
        self.keys = keys
        names = batch.names
        reserved = batch.reserved
    }

    func answer(_ chunk: LineChunk) -> BatchAnswer {
        var items: [SealItem] = []
        chunk.forEachLine(maximum: BatchLine.maximumLength) { items.append(item($0, $1)) }
        var answer = SealAnswer(batch, lines: items.count)
        do throws(KeyStoreError) {
            try keys.refresh()
            let devices = try keys.devices(for: items.map(\.recipient))
            for (item, devices) in zip(items, devices) { seal(item, for: devices, into: &answer) }
        } catch {
            // The next chunk may find the store again.
            for item in items { answer.refuse(item, item.failure ?? LineFailure(error)) }
        }
        return answer.answer
    }

    // MARK: Reading

    private func item(_ number: Int, _ line: LineChunk.Line) -> SealItem {
        var item = SealItem(number: number)
        do throws(LineFailure) {
            guard case .text(let text) = line else { throw .lineTooLong }
            switch batch.form {
            case .recipients where text.first != UInt8(ascii: "{"), .devices:
                let name = String(
                    decoding: text.last == UInt8(ascii: "\r") ? text.dropLast() : text[...], as: UTF8.self)
                item.name = name
                item.request = .success(try SealRequest(to: name, defaults: batch.options))
            case .messages, .recipients:
                let line = try BatchLine(text, names: names)
                item.line = line
                try line.refuse(reserved: reserved)
                item.request = .success(
                    try SealRequest(line, hasPayload: batch.payload == nil, defaults: batch.options))
            }
        } catch {
            item.request = .failure(error)
        }
        return item
    }

    // MARK: Sealing

    private func seal(
        _ item: SealItem, for devices: [Result<SealingKeys.Device, LineFailure>], into answer: inout SealAnswer
    ) {
        switch item.request {
        case .failure(let failure): answer.refuse(item, failure)
        case .success(let request):
            if case .keyless = request.recipient { return answer.pass(item, request) }
            for device in devices {
                let now = batch.now()
                let id = (try? device.get())?.id
                do throws(LineFailure) {
                    let device = try device.get()
                    let topic = try topic(for: request, device)
                    let sealer = try sealer(for: topic, request.placeholder)
                    var options = request.options
                    options.announcing = keys.sender.statements(to: device.pinnedSender, now: now)
                    answer.add(item, device, topic, try seal(request, with: sealer, device, now, options))
                } catch {
                    answer.refuse(item, for: id, error)
                }
            }
        }
    }

    private func seal(
        _ request: SealRequest, with sealer: Sealer, _ device: SealingKeys.Device, _ now: Timestamp,
        _ options: Sealer.Options
    ) throws(LineFailure) -> SealedPayload {
        do throws(SealError) {
            return try sealer.seal(
                request.payload ?? batch.payload ?? [], attachments: batch.attachments, to: device.key, at: now,
                options: options)
        } catch {
            throw LineFailure(error)
        }
    }

    private func sealer(for topic: Topic, _ placeholder: PlaceholderChoice?) throws(LineFailure) -> Sealer {
        if sealersGeneration != keys.generation || sealers.count > Self.maximumSealers { sealers = [:] }
        sealersGeneration = keys.generation
        let choice = placeholder?.otherwise(batch.placeholder) ?? batch.placeholder
        let kind = SealerKind(topic: topic, placeholder: choice)
        if let sealer = sealers[kind] { return sealer }
        do throws(SealError) {
            let placeholder = try choice.otherwise(PlaceholderChoice(title: keys.sender.title)).placeholder()
            let sealer = Sealer(sender: keys.sender.key, topic: topic, placeholder: placeholder)
            sealers[kind] = sealer
            return sealer
        } catch {
            throw LineFailure(error)
        }
    }

    /// The app that a message is for: what is said of it, and what the keys are bound to, must agree.
    private func topic(for request: SealRequest, _ device: SealingKeys.Device) throws(LineFailure) -> Topic {
        let given = request.topic ?? batch.topic
        let bound = try keys.sender.topic.map { (topic) throws(LineFailure) in
            try Self.agreeing(topic, given, "the sender's key is")
        }
        let topic = try device.topic.map { (topic) throws(LineFailure) in
            try Self.agreeing(topic, bound ?? given, "the device is")
        }
        if let topic = topic ?? bound ?? given ?? keys.sender.defaultTopic { return topic }
        throw LineFailure(.noTopic, "the line has no topic, and no key is bound to one: \(Option.topicHint)")
    }

    private static func agreeing(_ topic: Topic, _ other: Topic?, _ owner: String) throws(LineFailure) -> Topic {
        guard let other, topic != other else { return topic }
        throw LineFailure(
            KeyStoreError(.topicMismatch, "\(owner) bound to the topic \(topic), and the message is for \(other)"))
    }
}

/// One line on its way.
struct SealItem {
    let number: Int
    /// What the line has said, where it is an object.
    var line: BatchLine?
    /// The line itself, where it is a name.
    var name: String?
    var request: Result<SealRequest, LineFailure> = .failure(LineFailure(.malformedLine, ""))

    init(number: Int) { self.number = number }

    /// Whom it is for, when it can be sealed at all.
    var recipient: SealRequest.Recipient? { try? request.get().recipient }

    var failure: LineFailure? { if case .failure(let failure) = request { failure } else { nil } }
}
