internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The messages to seal together, and the only way to seal one: a single message is a plan of one.
///
/// Messages are grouped by sealer, so that a signer outside this process is asked once for each group. `add` finds out for
/// which app each message is and refuses what cannot be sealed; `carryOut` seals.
struct SealPlan {
    /// The most answers of one plan.
    private static let maximum = Sealer.signaturesAtOnce

    private let settings: SealSettings
    private let keys: SealingKeys
    /// The payload for requests that bring none; not needed before `carryOut`.
    var payload: ContiguousArray<UInt8>?
    private var steps: [Step] = []
    private var groups: [Group] = []

    /// One answer.
    private struct Step {
        let item: SealItem
        var device: SealingKeys.Device?
        let work: Work

        enum Work {
            case refuse(SealFailure)
            /// Writes the payload as it is, in a request if a group's sealer can make one.
            case pass(SealRequest, group: Int?)
            /// Seals the target with this number of a group.
            case seal(group: Int, number: Int)
        }
    }

    /// The messages of one sealer.
    private final class Group {
        let key: SealerCache.Key
        let sealer: Sealer
        var targets: [Target] = []

        init(_ key: SealerCache.Key, _ sealer: Sealer) {
            self.key = key
            self.sealer = sealer
        }
    }

    private struct Target {
        let request: SealRequest
        let device: SealingKeys.Device
    }

    init(_ settings: SealSettings, _ keys: SealingKeys, payload: ContiguousArray<UInt8>? = nil) {
        self.settings = settings
        self.keys = keys
        self.payload = payload
    }

    // MARK: Planning

    /// How many answers may be added.
    var room: Int { max(0, Self.maximum - steps.count) }

    /// The first failure that is known before anything is sealed.
    var failure: SealFailure? {
        for step in steps {
            if case .refuse(let failure) = step.work { return failure }
        }
        return nil
    }

    /// Adds an item, with some or all of its recipient's devices.
    mutating func add(_ item: SealItem, _ devices: ArraySlice<SealingKeys.Lookup>) {
        switch item.content {
        case .refused(let failure): steps.append(Step(item: item, work: .refuse(.line(failure))))
        case .request(let request):
            if case .keyless = request.recipient { steps.append(pass(item, request)) }
            for device in devices { add(item, request, device) }
        }
    }

    private mutating func add(_ item: SealItem, _ request: SealRequest, _ device: SealingKeys.Lookup) {
        let found = try? device.get()
        let work: Step.Work
        do throws(SealFailure) {
            let device = try device.get()
            let group = try group(for: request, device)
            work = .seal(group: group, number: groups[group].targets.count)
            groups[group].targets.append(Target(request: request, device: device))
        } catch {
            if item.skipsIfRemoved, error.isMissingDevice { return }
            work = .refuse(error)
        }
        steps.append(Step(item: item, device: found, work: work))
    }

    private mutating func pass(_ item: SealItem, _ request: SealRequest) -> Step {
        guard settings.passesUnencrypted else { return Step(item: item, work: .refuse(.line(.noKey))) }
        guard settings.emission != .payload else { return Step(item: item, work: .pass(request, group: nil)) }
        do throws(SealFailure) {
            return Step(item: item, work: .pass(request, group: try group(for: request, nil)))
        } catch {
            return Step(item: item, work: .refuse(error))
        }
    }

    private mutating func group(
        for request: SealRequest, _ device: SealingKeys.Device?
    ) throws(SealFailure) -> Int {
        do throws(KeyStoreError) { try keys.checkClock(settings.now(), settings.clock) } catch { throw .store(error) }
        let given = request.topic ?? settings.topic
        let signer = try keys.signer(named: request.signer, for: given ?? device?.topic, device)
        let key = SealerCache.Key(
            signer: signer.name, topic: try topic(given, signer, device),
            placeholder: request.placeholder?.otherwise(settings.placeholder) ?? settings.placeholder)
        if let group = groups.firstIndex(where: { $0.key == key }) { return group }
        groups.append(Group(key, try keys.sealer(signer, key.topic, key.placeholder)))
        return groups.count - 1
    }

    /// The app that a message is for. The caller's word and the topics that the keys are bound to must agree; the store's
    /// setting is for messages that have none of these.
    private func topic(
        _ given: Topic?, _ signer: SealingKeys.Signer, _ device: SealingKeys.Device?
    ) throws(SealFailure) -> Topic {
        if let given, let bound = signer.topic, bound != given {
            throw .topicConflict(
                SealFailure.TopicConflict(
                    owner: .provider(signer.name ?? ""), bound: bound, topic: given, provider: nil))
        }
        if let topic = signer.topic ?? given, let bound = device?.topic, bound != topic {
            throw .topicConflict(
                SealFailure.TopicConflict(
                    owner: .device(device?.id ?? ""), bound: bound, topic: topic,
                    provider: given == nil ? signer.name : nil))
        }
        guard let topic = given ?? signer.topic ?? device?.topic ?? keys.standards.topic else { throw .noTopic }
        return topic
    }

    // MARK: Sealing

    /// Seals the messages, and gives `answer` the outcome for every item and device in order, until it returns false.
    func carryOut(_ answer: (SealItem, SealingKeys.Device?, SealOutcome) -> Bool) {
        let signed = sealTogether()
        for step in steps {
            let outcome: SealOutcome
            do throws(SealFailure) {
                switch step.work {
                case .refuse(let failure): throw failure
                case .pass(let request, let group): outcome = try pass(request, group.map { groups[$0].sealer })
                case .seal(let group, let number):
                    outcome = .sealed(
                        try seal(step.item, groups[group], number, signed.isEmpty ? [] : signed[group]))
                }
            } catch {
                outcome = .refused(error)
            }
            guard answer(step.item, step.device, outcome) else { return }
        }
    }

    /// Seals all messages of every group together if a signer outside this process is asked. With a key in this process
    /// there is nothing to wait for, and each is sealed when it is answered.
    private func sealTogether() -> [[Result<SealedPayload, SealError>]] {
        guard let group = groups.first, group.sealer.waitsForSigner else { return [] }
        return groups.map { group in group.sealer.seal(group.targets.map { message(for: $0) }) }
    }

    private func message(for target: Target) -> Sealer.Message {
        var message = Sealer.Message(
            target.request.payload ?? payload ?? [], to: target.device.key, at: settings.now(),
            options: target.request.options)
        message.attachments = settings.attachments
        message.from = target.request.from
        // A message that is too long is sealed again, with its body in a file.
        if settings.overflow != nil { message.options.fitting = [] }
        return message
    }

    /// Seals one message of a group; `signed` is empty unless they were sealed together.
    private func seal(
        _ item: SealItem, _ group: Group, _ number: Int, _ signed: [Result<SealedPayload, SealError>]
    ) throws(SealFailure) -> SealedMessage {
        let target = group.targets[number]
        var sealed: SealedPayload
        var file: SealOverflow.File?
        do throws(SealError) {
            sealed = signed.isEmpty ? try group.sealer.seal(message(for: target)) : try signed[number].get()
        } catch {
            guard let overflow = settings.overflow, let shared = item.file, overflow.isNeeded(after: error) else {
                throw .sealing(error)
            }
            (sealed, file) = try overflow.seal(
                message(for: target), fitting: settings.options.fitting, by: group.sealer, sharing: shared)
        }
        guard settings.emission != .payload else {
            return SealedMessage(payload: sealed, request: nil, overflow: file)
        }
        do throws(SealError) {
            let headers = target.request.headers
            let request = try group.sealer.request(
                for: sealed, device: target.device.id, collapseName: headers.collapseName, priority: headers.priority)
            return SealedMessage(payload: sealed, request: request, overflow: file)
        } catch {
            throw .sealing(error)
        }
    }

    /// Checks a payload that is not sealed; with a sealer, makes its request too.
    private func pass(_ request: SealRequest, _ sealer: Sealer?) throws(SealFailure) -> SealOutcome {
        let options = request.options
        do throws(SealError) {
            _ = try options.messageID()
            guard options.withdrawing.isEmpty, !options.isDropped else {
                throw SealError(
                    .invalidRequest, "a message that withdraws others, or is dropped, cannot be sent unsealed")
            }
            let payload = try PayloadCheck.sendable(
                request.payload ?? payload ?? [], for: options.pushType, isSentExactly: options.isSentExactly)
            let carrying = try sealer.map { (sealer) throws(SealError) in
                try sealer.request(unsealed: payload, options, priority: request.headers.priority, at: settings.now())
            }
            return .unencrypted(payload, carrying)
        } catch {
            throw .sealing(error)
        }
    }
}

// MARK: One message

extension SealSource {
    /// Plans one message, whose payload is still to come, and ends the command if it is refused. The plan needs the store no
    /// more.
    ///
    /// - Parameters:
    ///   - name: The id or the public key of the device.
    ///   - place: The option or operand that gives it.
    func plan(
        to name: String, in place: String, _ settings: SealSettings, _ console: Console
    ) throws(CommandFailure) -> SealPlan {
        let recipient: SealRequest.Recipient
        do throws(KeyError) {
            recipient = try SealRequest.Recipient(named: name)
        } catch {
            throw CommandFailure(error, inOption: place)
        }
        let keys = try withStoreErrors { () throws(KeyStoreError) in try self.keys() }
        let devices = try withStoreErrors { () throws(KeyStoreError) in try keys.devices(for: [recipient]) }
        var plan = SealPlan(settings, keys)
        for devices in devices { plan.add(SealItem(to: recipient, named: name, settings), devices[...]) }
        if let failure = plan.failure { throw CommandFailure(failure, deviceGivenIn: place) }
        console.warn(ofStale: keys.signers.lazy.compactMap(\.warning).first)
        keys.leaveStore()
        return plan
    }
}

extension SealPlan {
    /// Seals the only message of the plan, and ends the command if it is refused.
    func seal(
        _ payload: ContiguousArray<UInt8>, deviceGivenIn place: String
    ) throws(CommandFailure) -> (item: SealItem, device: SealingKeys.Device?, message: SealedMessage) {
        var plan = self
        plan.payload = payload
        var answer: (SealItem, SealingKeys.Device?, SealOutcome)?
        plan.carryOut { item, device, outcome in
            answer = (item, device, outcome)
            return true
        }
        switch answer {
        case (let item, let device, .sealed(let message))?: return (item, device, message)
        case (_, _, .refused(let failure))?: throw CommandFailure(failure, deviceGivenIn: place)
        case (_, _, .unencrypted)?, nil: preconditionFailure("a named device has one answer")
        }
    }
}
