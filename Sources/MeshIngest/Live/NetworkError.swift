import Foundation
import NIOCore
import NIOPosix

/// What went wrong with a socket or a device, without the names of SwiftNIO's types.
func networkErrorText(_ error: any Error) -> String {
    switch error {
    case let error as IOError: return errorText(error.errnoCode)
    case let error as SocketAddressError.UnknownHost: return "\(error.errorDescription): \(error.host)"
    case let error as NIOConnectionError:
        if let unresolved = error.dnsAError ?? error.dnsAAAAError, error.connectionErrors.isEmpty {
            return networkErrorText(unresolved)
        }
        // One failure for each address of the host; often all have the same reason.
        var reasons: [String] = []
        for reason in error.connectionErrors.map({ networkErrorText($0.error) }) where !reasons.contains(reason) {
            reasons.append(reason)
        }
        return reasons.joined(separator: "; ")
    case ChannelError.connectTimeout(let wait): return "no answer for \(Double(wait.nanoseconds) / 1e9) s"
    case is ChannelError: return "the connection was closed"
    default: return "\(error)"
    }
}
