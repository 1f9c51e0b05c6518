import Foundation

protocol Server: Sendable {
    func register(_ record: Data) async throws -> Data
    func forget(_ withdrawal: Data) async throws
}
