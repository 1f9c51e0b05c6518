import Pushcrypt
import PushcryptKeyStore

/// Invariants of a phone's keys, of its provider's copy, and of what is under way between them.
///
/// Written from `Docs/Keys.md` and knows nothing of a store. Keys are named by their generation.
struct DeviceRotationModel {
    enum Step: Hashable, Sendable, CustomStringConvertible {
        /// The phone makes its next key.
        case rotate
        /// The phone sends the record of its newest key, as it does at each launch.
        case send
        /// A record that is under way reaches the provider, perhaps once more.
        case register(UInt64)
        /// The provider's reply reaches the phone.
        case reply(UInt64)
        /// The provider's reply does not reach the phone.
        case loseReply(UInt64)
        /// The first message under a pending key reaches the phone.
        case deliver(UInt64)
        /// It reaches the phone, whose process dies before the message has taken effect.
        case die(UInt64)
        /// Nothing happens until the last grace has ended; then the phone purges.
        case purge

        var description: String {
            switch self {
            case .rotate: "rotate"
            case .send: "send"
            case .register(let generation): "register \(generation)"
            case .reply(let generation): "reply \(generation)"
            case .loseReply(let generation): "lose reply \(generation)"
            case .deliver(let generation): "deliver \(generation)"
            case .die(let generation): "die over \(generation)"
            case .purge: "purge"
            }
        }
    }

    enum State: Equatable {
        case pending
        case active
        case retiring(until: Timestamp)
    }

    struct Key: Equatable {
        let generation: UInt64
        var state: State

        var isRetiring: Bool {
            if case .retiring = state { return true }
            return false
        }
    }

    /// A message that the provider has sealed as soon as it had a key; it may arrive at any time, or never.
    struct Message {
        let generation: UInt64
        /// A process has died over it.
        var isMarked = false
    }

    static let grace: UInt64 = 31 * 86_400
    /// More rotations than these bring nothing new.
    static let lastGeneration: UInt64 = 3

    var now = Timestamp.start
    var keys = [Key(generation: 1, state: .active)]
    /// The generation that the provider seals to.
    var held: UInt64 = 1
    /// The records that were sent: any of them may arrive at any time, and again.
    var records: Set<UInt64> = [1]
    /// The generations whose replies are under way.
    var replies: Set<UInt64> = []
    var messages = [Message(generation: 1)]

    var pending: UInt64? { keys.first { $0.state == .pending }?.generation }
    var newest: UInt64 { keys.last?.generation ?? 0 }

    // MARK: Steps

    /// The steps that change something now. A step that changes nothing is not one of them: the walk tries those at every
    /// point and goes on from where it was.
    var steps: [Step] {
        var steps: [Step] = []
        if pending == nil, newest < Self.lastGeneration { steps.append(.rotate) }
        if !records.contains(newest) { steps.append(.send) }
        steps += records.sorted().filter { $0 > held || $0 == held && $0 == pending && !replies.contains($0) }
            .map(Step.register)
        if let pending, replies.contains(pending) { steps += [.reply(pending), .loseReply(pending)] }
        if let pending, let message = messages.first(where: { $0.generation == pending }) {
            steps.append(.deliver(pending))
            if !message.isMarked { steps.append(.die(pending)) }
        }
        if keys.contains(where: \.isRetiring) { steps.append(.purge) }
        return steps
    }

    mutating func take(_ step: Step) {
        now = now.plus(seconds: 3600)
        switch step {
        case .rotate: keys.append(Key(generation: newest + 1, state: .pending))
        case .send: records.insert(newest)
        case .register(let generation):
            held = generation
            replies.insert(generation)
            push()
        case .reply(let generation):
            replies.remove(generation)
            activate(generation)
        case .loseReply(let generation): replies.remove(generation)
        case .deliver(let generation): activate(generation)
        case .die(let generation):
            for index in messages.indices where messages[index].generation == generation {
                messages[index].isMarked = true
            }
        case .purge:
            now = lastEnd.plus(milliseconds: 1)
            keys.removeAll(where: \.isRetiring)
            // 31 days are more than a message lives.
            messages = []
            push()
        }
    }

    /// At every point a message is under way to each key that the provider has held.
    private mutating func push() {
        guard !messages.contains(where: { $0.generation == held }) else { return }
        messages.append(Message(generation: held))
    }

    /// The last moment at which a key opens that is retiring now.
    var lastEnd: Timestamp {
        keys.reduce(now) { end, key in
            if case .retiring(let until) = key.state { return max(end, until) }
            return end
        }
    }

    private mutating func activate(_ generation: UInt64) {
        for index in keys.indices {
            if keys[index].state == .active { keys[index].state = .retiring(until: now.plus(seconds: Self.grace)) }
            if keys[index].generation == generation { keys[index].state = .active }
        }
    }
}
