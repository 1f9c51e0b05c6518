/// Whether refusals show that the set-up is wrong, and not the messages: what APNs said for each topic of an environment, until
/// it has taken a message there; the login may be refused later too. The dispatchers of all environments share one.
final class CircuitBreaker {
    /// The equal refusals in a row that are enough: APNs disconnects who sends many.
    static let enough = 20
    /// How long a topic or an environment is suspended if other messages are accepted, in milliseconds.
    static let suspension: UInt64 = 15 * 60 * 1000
    /// Nothing is kept for more topics.
    private static let maximumTopics = 1000

    /// An environment and a topic; without a topic, what concerns the login.
    private struct Place: Hashable {
        let environment: String
        let topic: String?
    }

    private struct Run {
        /// Whether APNs has shown that environment, topic and key go together.
        var isConfirmed = false
        var answer: APNsAnswer?
        /// The device tokens of the run, or, where APNs does not look at them, the messages.
        var subjects: Set<String> = []
        /// Why nothing is sent, and until when.
        var suspension: (answer: APNsAnswer, until: UInt64)?
    }

    private var runs: [Place: Run] = [:]
    /// The place of the last message that was accepted.
    private var lastConfirmed: Place?
    /// Whether any message was accepted.
    private var hasAccepted = false
    private var hasSuspensions = false

    /// Takes note of an answer that ends a message; returns whether it is enough to stop its topic, or the login.
    func add(_ answer: APNsAnswer, to delivery: Delivery, in environment: String, at now: Moment) -> Bool {
        let login = Place(environment: environment, topic: nil)
        let place = answer.concernsLogin ? login : Place(environment: environment, topic: delivery.request.topic)
        // A device that has unregistered was registered here.
        if answer.verdict == .accepted || answer.status == 410 {
            if answer.verdict == .accepted { hasAccepted = true }
            guard place != lastConfirmed else { return false }
            lastConfirmed = place
            update(place) { $0 = Run(isConfirmed: true) }
            update(login) { $0 = Run(isConfirmed: true) }
            return false
        }
        if answer.concernsLogin { lastConfirmed = nil } else { update(login) { $0 = Run(isConfirmed: true) } }
        var isEnough = false
        update(place) { run in
            // What was right may be revoked, or expire.
            guard !run.isConfirmed || answer.concernsLogin, answer.concernsSetup else {
                run.answer = nil
                return
            }
            if run.answer?.status != answer.status || run.answer?.reason != answer.reason { run.subjects = [] }
            run.answer = answer
            run.subjects.insert(answer.concernsDevice ? delivery.request.deviceToken : "\(delivery.number)")
            guard run.subjects.count >= Self.enough else { return }
            run.subjects = []
            // Requests that were under way are answered during the suspension.
            if let suspension = run.suspension, suspension.until > now.uptime { return }
            isEnough = true
            run.isConfirmed = false
            run.suspension = (answer, now.uptime + Self.suspension)
        }
        hasSuspensions = hasSuspensions || isEnough
        return isEnough
    }

    /// Whether APNs accepts others than those that it refuses with this answer: another topic's, or another environment's login.
    func hasOthers(than answer: APNsAnswer, in environment: String) -> Bool {
        guard answer.concernsLogin else { return hasAccepted }
        return runs.contains { $0.key.topic == nil && $0.key.environment != environment && $0.value.isConfirmed }
    }

    private func update(_ place: Place, _ change: (inout Run) -> Void) {
        guard var run = runs[place] ?? (runs.count < Self.maximumTopics ? Run() : nil) else { return }
        change(&run)
        runs[place] = run
    }

    /// The refusal because of which nothing is sent for a topic now; nil if it is not suspended.
    func refusal(of topic: String, in environment: String, at now: Moment) -> APNsAnswer? {
        guard hasSuspensions else { return nil }
        for place in [Place(environment: environment, topic: nil), Place(environment: environment, topic: topic)] {
            if let suspension = runs[place]?.suspension, suspension.until > now.uptime { return suspension.answer }
        }
        return nil
    }
}
