import Foundation

protocol Server: Sendable {
    func register(_ record: Data) async throws -> Data
    func forget(_ device: String) async throws
}
