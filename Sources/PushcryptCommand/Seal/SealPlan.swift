internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// What some lines of a chunk ask for, sorted by sealer: so a signer elsewhere is asked for many signatures at a time.
struct SealPlan {
    /// The most answers of one plan.
    private static let maximum = Sealer.signaturesAtOnce

    private let batch: SealBatch
    private var steps: [Step] = []
    private var groups: [Group] = []
    private var groupNumbers: [SealerShelf.Kind: Int] = [:]

    /// One answer.
    private struct Step {
        let item: SealItem
        var device: SealingKeys.Device?
        let work: Work

        enum Work {
            case refuse(LineFailure)
            /// The payload as it is; a request to APNs is made by a group's sealer.
            case pass(SealRequest, group: Int?)
            /// The message with this number of a group.
            case seal(group: Int, number: Int)
        }
    }

    /// The messages of one sealer.
    private struct Group {
        let kind: SealerShelf.Kind
        let sealer: Sealer
        var messages: [Sealer.Message] = []
    }

    init(_ batch: SealBatch) { self.batch = batch }

    // MARK: Planning

    /// How many answers may be added.
    var room: Int { max(0, Self.maximum - steps.count) }

    /// Adds a line, with the devices that it is for, or some of them.
    mutating func add(
        _ item: SealItem, _ devices: ArraySlice<Result<SealingKeys.Device, LineFailure>>, _ sender: SealingKeys.Sender,
        _ sealers: inout SealerShelf
    ) {
        switch item.request {
        case .failure(let failure): steps.append(Step(item: item, work: .refuse(failure)))
        case .success(let request):
            if case .keyless = request.recipient { steps.append(pass(item, request, sender, &sealers)) }
            for device in devices { add(item, request, device, sender, &sealers) }
        }
    }

    private mutating func add(
        _ item: SealItem, _ request: SealRequest, _ device: Result<SealingKeys.Device, LineFailure>,
        _ sender: SealingKeys.Sender, _ sealers: inout SealerShelf
    ) {
        var step: Step
        do throws(LineFailure) {
            let device = try device.get()
            let topic = try topic(for: request, device, sender)
            let group = try group(kind(topic, request), sender, &sealers)
            step = Step(item: item, device: device, work: .seal(group: group, number: groups[group].messages.count))
            groups[group].messages.append(message(request, device, sender))
        } catch {
            // A device that went away since all were listed is none of them any more.
            if batch.form == .devices, error.isMissingDevice { return }
            step = Step(item: item, device: try? device.get(), work: .refuse(error))
        }
        steps.append(step)
    }

    private mutating func pass(
        _ item: SealItem, _ request: SealRequest, _ sender: SealingKeys.Sender, _ sealers: inout SealerShelf
    ) -> Step {
        guard batch.passesUnencrypted else { return Step(item: item, work: .refuse(.noKey)) }
        guard batch.emission != .payload else { return Step(item: item, work: .pass(request, group: nil)) }
        do throws(LineFailure) {
            let topic = try topic(for: request, nil, sender)
            let group = try group(kind(topic, request), sender, &sealers)
            return Step(item: item, work: .pass(request, group: group))
        } catch {
            return Step(item: item, work: .refuse(error))
        }
    }

    private func kind(_ topic: Topic, _ request: SealRequest) -> SealerShelf.Kind {
        SealerShelf.Kind(
            topic: topic, placeholder: request.placeholder?.otherwise(batch.placeholder) ?? batch.placeholder)
    }

    private mutating func group(
        _ kind: SealerShelf.Kind, _ sender: SealingKeys.Sender, _ sealers: inout SealerShelf
    ) throws(LineFailure) -> Int {
        if let group = groupNumbers[kind] { return group }
        let group = Group(kind: kind, sealer: try sealers.sealer(kind, sender))
        groupNumbers[kind] = groups.count
        groups.append(group)
        return groups.count - 1
    }

    private func message(
        _ request: SealRequest, _ device: SealingKeys.Device, _ sender: SealingKeys.Sender
    ) -> Sealer.Message {
        let now = batch.now()
        var message = Sealer.Message(
            request.payload ?? batch.payload ?? [], to: device.key, at: now, options: request.options)
        message.attachments = batch.attachments
        // What is too long is sealed again, with its body apart.
        if batch.overflow != nil { message.options.fitting = [] }
        message.options.announcing = sender.statements(to: device.pinnedSender, now: now)
        return message
    }

    /// The app that a message is for: what is said of it, and what the keys are bound to, must agree.
    private func topic(
        for request: SealRequest, _ device: SealingKeys.Device?, _ sender: SealingKeys.Sender
    ) throws(LineFailure) -> Topic {
        let given = request.topic ?? batch.topic
        let senders = try Self.bound(given, to: sender.topic, by: "the sender's key")
        let topic = try Self.bound(senders, to: device?.topic, by: "the device")
        if let topic = topic ?? sender.defaultTopic { return topic }
        throw LineFailure(.noTopic, "no topic is given, and no key is bound to one: \(Option.topicHint)")
    }

    private static func bound(_ topic: Topic?, to other: Topic?, by owner: String) throws(LineFailure) -> Topic? {
        guard let other else { return topic }
        guard let topic, topic != other else { return other }
        throw LineFailure(
            KeyStoreError(.topicMismatch, "\(owner) is bound to the topic \(other), and the message is for \(topic)"))
    }

    // MARK: Sealing

    /// Seals all messages, and answers all lines.
    func carryOut(into answer: inout SealAnswer) {
        let results = groups.map { $0.sealer.seal($0.messages) }
        for step in steps where answer.isWanted {
            do throws(LineFailure) {
                switch step.work {
                case .refuse(let failure): throw failure
                case .pass(let request, let group): try pass(step, request, group.map { groups[$0] }, into: &answer)
                case .seal(let group, let number):
                    let (sealed, file) = try sealed(results[group][number], step.item, groups[group], number)
                    try add(step, sealed, file, groups[group].sealer, into: &answer)
                }
            } catch {
                answer.refuse(step.item, for: step.device?.id, error)
            }
        }
    }

    private func add(
        _ step: Step, _ sealed: SealedPayload, _ overflow: SealOverflow.File?, _ sealer: Sealer,
        into answer: inout SealAnswer
    ) throws(LineFailure) {
        var request: PushRequest?
        if batch.emission != .payload, case .success(let asked) = step.item.request {
            do throws(SealError) {
                request = try asked.headers.request(for: sealed, device: step.device?.id, by: sealer)
            } catch {
                throw LineFailure(error)
            }
        }
        answer.add(step.item, for: step.device?.id, request, sealed, overflow)
    }

    private func pass(
        _ step: Step, _ asked: SealRequest, _ group: Group?, into answer: inout SealAnswer
    ) throws(LineFailure) {
        do throws(SealError) {
            _ = try asked.options.messageID()
            let payload = try PayloadCheck.sendable(
                asked.payload ?? batch.payload ?? [], for: asked.options.pushType,
                isSentExactly: asked.options.isSentExactly)
            let request = try group.map { (group) throws(SealError) in
                try asked.headers.request(
                    passing: payload, asked.options, by: group.sealer, topic: group.kind.topic, at: batch.now())
            }
            answer.pass(step.item, request, payload)
        } catch {
            throw LineFailure(error)
        }
    }

    /// What came of a message, its body apart where it was too long and may be.
    private func sealed(
        _ result: Result<SealedPayload, SealError>, _ item: SealItem, _ group: Group, _ number: Int
    ) throws(LineFailure) -> (SealedPayload, SealOverflow.File?) {
        do throws(SealError) {
            return (try result.get(), nil)
        } catch {
            guard let overflow = batch.overflow, let file = item.file, overflow.isNeeded(after: error) else {
                throw LineFailure(error)
            }
            do throws(SealOverflow.Failure) {
                return try overflow.seal(
                    group.messages[number], fitting: batch.options.fitting, by: group.sealer, sharing: file)
            } catch {
                throw error.ofLine
            }
        }
    }
}

extension LineFailure {
    fileprivate var isMissingDevice: Bool {
        [KeyStoreError.Code.unknownDevice, .removedDevice].contains { $0.description == code }
    }
}
