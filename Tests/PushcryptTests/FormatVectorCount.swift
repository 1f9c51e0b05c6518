import Testing

/// Counts the vectors that a parameterised test has run, and says so in the form that `make test` sums.
struct FormatVectorCount: TestTrait, TestScoping {
    let name: String

    private actor Counter {
        var count = 0

        func increment() { count += 1 }
    }

    @TaskLocal private static var counter: Counter?

    /// Around the whole test, and around each of its cases.
    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { self }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase == nil else {
            await Self.counter?.increment()
            return try await function()
        }
        let counter = Counter()
        try await Self.$counter.withValue(counter) { try await function() }
        let count = await counter.count
        #expect(count > 0, "no vector of \(name) ran")
        print("vectors: \(name): \(count)")
    }
}

extension Trait where Self == FormatVectorCount {
    /// The cases of this test are the vectors `name`.
    static func vectors(_ name: String) -> Self { Self(name: name) }
}
