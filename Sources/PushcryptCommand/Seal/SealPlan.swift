internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The messages of a batch to seal together: a signer outside this process is asked once for all that one sealer seals.
///
/// `add` finds out what cannot be sealed; `carryOut` seals the rest.
struct SealPlan {
    /// The most answers of one plan.
    private static let maximum = Sealer.signaturesAtOnce

    private let settings: SealSettings
    private let keys: SealingKeys
    private var steps: [Step] = []

    /// One answer.
    private struct Step {
        let item: SealItem
        var device: SealingKeys.Device?
        let work: Work

        enum Work {
            case refuse(SealFailure)
            /// Writes the payload as it is, in a request if there is a sealer to make one.
            case pass(SealRequest, Sealer?)
            case seal(SealTarget)
        }

        var target: SealTarget? { if case .seal(let target) = work { target } else { nil } }
    }

    init(_ settings: SealSettings, _ keys: SealingKeys) {
        self.settings = settings
        self.keys = keys
    }

    // MARK: Planning

    /// How many answers may be added.
    var room: Int { max(0, Self.maximum - steps.count) }

    /// Adds an item, with some or all of its recipient's devices.
    mutating func add(_ item: SealItem, _ devices: ArraySlice<SealingKeys.Lookup>) {
        switch item.content {
        case .refused(let failure): steps.append(Step(item: item, work: .refuse(.line(failure))))
        case .request(.keyless, let request): steps.append(Step(item: item, work: pass(request)))
        case .request(_, let request): for device in devices { add(item, request, device) }
        }
    }

    private mutating func add(_ item: SealItem, _ request: SealRequest, _ device: SealingKeys.Lookup) {
        let work: Step.Work
        do throws(SealFailure) {
            work = .seal(try keys.target(request, try device.get(), settings))
        } catch {
            if item.skipsIfRemoved, error.isMissingDevice { return }
            work = .refuse(error)
        }
        steps.append(Step(item: item, device: try? device.get(), work: work))
    }

    private func pass(_ request: SealRequest) -> Step.Work {
        guard settings.passesUnencrypted else { return .refuse(.line(.noKey)) }
        guard settings.emission != .payload else { return .pass(request, nil) }
        do throws(SealFailure) {
            return .pass(request, try keys.sealer(for: request, nil, settings).sealer)
        } catch {
            return .refuse(error)
        }
    }

    // MARK: Sealing

    /// Seals the messages, and gives `answer` the outcome for every item and device in order, until it returns false.
    func carryOut(_ answer: (SealItem, SealingKeys.Device?, SealOutcome) -> Bool) {
        let signed = sealTogether()
        for (number, step) in steps.enumerated() {
            let outcome: SealOutcome
            do throws(SealFailure) {
                switch step.work {
                case .refuse(let failure): throw failure
                case .pass(let request, let sealer): outcome = try pass(request, sealer)
                case .seal(let target):
                    outcome = .sealed(try target.seal(settings, sharing: step.item.file, signed[number]))
                }
            } catch {
                outcome = .refused(error)
            }
            guard answer(step.item, step.device, outcome) else { return }
        }
    }

    /// Seals all messages of every sealer together if a signer outside this process is asked; returns what has come of each
    /// step. With a key in this process there is nothing to wait for, and each is sealed when it is answered.
    private func sealTogether() -> [Int: Result<SealedPayload, SealError>] {
        guard let first = steps.lazy.compactMap(\.target).first, first.sealer.sealer.waitsForSigner else { return [:] }
        var groups: [(sealer: SealingKeys.KeyedSealer, steps: [Int])] = []
        for (number, step) in steps.enumerated() {
            guard let target = step.target else { continue }
            if let group = groups.firstIndex(where: { $0.sealer.key == target.sealer.key }) {
                groups[group].steps.append(number)
            } else {
                groups.append((target.sealer, [number]))
            }
        }
        var signed: [Int: Result<SealedPayload, SealError>] = [:]
        for (sealer, numbers) in groups {
            let messages = numbers.compactMap { steps[$0].target?.message(settings) }
            for (number, result) in zip(numbers, sealer.sealer.seal(messages)) { signed[number] = result }
        }
        return signed
    }

    /// Checks a payload that is not sealed; with a sealer, makes its request too.
    private func pass(_ request: SealRequest, _ sealer: Sealer?) throws(SealFailure) -> SealOutcome {
        let options = request.options
        do throws(SealError) {
            _ = try options.messageID()
            guard options.withdrawing.isEmpty, !options.isDropped, !options.isAnswerable else {
                throw SealError(
                    .invalidRequest,
                    "a message that withdraws others, is dropped or can be answered cannot be sent unsealed")
            }
            let payload = try PayloadCheck.sendable(
                request.payload, for: options.pushType, isSentExactly: options.isSentExactly)
            let carrying = try sealer.map { (sealer) throws(SealError) in
                try sealer.request(unsealed: payload, options, priority: request.headers.priority, at: settings.now())
            }
            return .unencrypted(payload, carrying)
        } catch {
            throw .sealing(error)
        }
    }
}
