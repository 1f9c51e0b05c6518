/// Welch's t for two sets of times, as the authors of dudect take it: over all samples, and over those below several limits, because
/// an interrupted measurement says nothing; the largest of these counts.
struct Welch {
    /// The shares of all samples, the fastest first, that are compared.
    private static let crops = [1.0, 0.99, 0.95, 0.9, 0.75, 0.5]

    /// The value that is furthest from zero.
    let t: Double
    /// The difference of the means, in nanoseconds, that would have given a t of 10 in the narrowest of the crops.
    let resolution: Double

    init(_ a: [Double], _ b: [Double]) {
        let sorted = (a + b).sorted()
        var (t, resolution) = (0.0, Double.infinity)
        for crop in Self.crops {
            let limit = sorted[min(sorted.count - 1, Int(Double(sorted.count) * crop))]
            let (first, second) = (Moments(a.filter { $0 <= limit }), Moments(b.filter { $0 <= limit }))
            let error = (first.variance / first.count + second.variance / second.count).squareRoot()
            guard error > 0 else { continue }
            let value = (first.mean - second.mean) / error
            if abs(value) > abs(t) { t = value }
            resolution = min(resolution, 10 * error)
        }
        (self.t, self.resolution) = (t, resolution)
    }

    private struct Moments {
        let count: Double
        let mean: Double
        let variance: Double

        init(_ values: [Double]) {
            count = Double(values.count)
            let mean = values.reduce(0, +) / count
            variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (count - 1)
            self.mean = mean
        }
    }
}
