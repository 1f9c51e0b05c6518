/// Runs replays one after another, so that two do not pass the same response to the app.
actor ReplayOrder {
    private var latest: Task<Int, Never>?

    func run(_ replay: @escaping @Sendable () async -> Int) async -> Int {
        let earlier = latest
        let task = Task {
            _ = await earlier?.value
            return await replay()
        }
        latest = task
        return await task.value
    }
}
