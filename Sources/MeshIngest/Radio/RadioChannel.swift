import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Opens the byte stream to a radio.
enum RadioChannel {
    typealias Channel = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// One thread serves all sockets and devices, since reading them is little work compared with storing.
    static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    static func open(_ address: RadioAddress, _ options: RadioOptions) async throws -> Channel {
        switch address {
        case .tcp(let host, let port):
            let opened = Opened()
            let bootstrap = ClientBootstrap(group: loops).connectTimeout(
                .milliseconds(Int64(options.connectSeconds * 1_000))
            )
            .channelOption(.socketOption(.tcp_nodelay), value: 1).channelOption(.socketOption(.so_keepalive), value: 1)
            return try await withTaskCancellationHandler {
                try await bootstrap.connect(host: host, port: Int(port)) { channel in
                    opened.take(channel)
                    return wrap(channel)
                }
            } onCancel: {
                opened.cancel()
            }
        case .serial(let path, let raisesDTR):
            let descriptor = try SerialPort.open(path, raisesDTR: raisesDTR)
            do {
                return try await NIOPipeBootstrap(group: loops).takingOwnershipOfDescriptor(inputOutput: descriptor) { wrap($0) }
            } catch {
                close(descriptor)
                throw error
            }
        }
    }

    @Sendable private static func wrap(_ channel: any NIOCore.Channel) -> EventLoopFuture<Channel> {
        channel.eventLoop.makeCompletedFuture { try Channel(wrappingChannelSynchronously: channel) }
    }

    /// The connection attempt, which a cancelled task does not wait for.
    private final class Opened: Sendable {
        private struct State {
            var channel: (any NIOCore.Channel)?
            var isCancelled = false
        }

        private let state = Mutex(State())

        func take(_ channel: any NIOCore.Channel) {
            let isCancelled = state.withLock { state in
                state.channel = channel
                return state.isCancelled
            }
            if isCancelled { channel.close(promise: nil) }
        }

        func cancel() {
            let channel = state.withLock { state in
                state.isCancelled = true
                return state.channel
            }
            channel?.close(promise: nil)
        }
    }
}
