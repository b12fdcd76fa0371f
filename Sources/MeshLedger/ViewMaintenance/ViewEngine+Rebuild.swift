import EventLog
import Foundation
import LMDB
import MeshViews
import Meshtastic
import Projections

extension ViewEngine {
    /// Rebuilds the named views from the first event, beside the served ones. If somebody removes files of views meanwhile, it begins again.
    /// - Parameter keepsOld: whether the old recipes are kept, to go back to.
    func rebuild(
        _ definitions: [ViewDefinition], of all: [ViewDefinition], keyring: Keyring, keepsOld: Bool,
        progress: (@Sendable (FoldProgress) -> Void)?
    ) async throws {
        while true {
            try await settle(nil)
            do {
                return try await buildBeside(definitions, of: all, keyring: keyring, keepsOld: keepsOld, progress: progress)
            } catch {
                guard try await takeUpLost() else { throw error }
            }
        }
    }

    private func buildBeside(
        _ definitions: [ViewDefinition], of all: [ViewDefinition], keyring: Keyring, keepsOld: Bool,
        progress: (@Sendable (FoldProgress) -> Void)?
    ) async throws {
        let names = Set(definitions.map(\.name))
        try requireBaselines(definitions)
        if keepsOld { keeping.formUnion(names) }
        let members = try definitions.map { try fresh($0, beside: served.folder($0.name).current(), fromFirst: true) }
        if names.count < all.count { try await leaveLive(names) }
        try await begin(members, MeshStage(log: log, keyring: keyring), replacesLive: names.count == all.count)
        try await settle(progress)
    }

    /// Other keys: every view is rebuilt with them, while the existing ones continue to follow and answer.
    func restart(_ definitions: [ViewDefinition], keyring: Keyring) async throws {
        await waitForErasure()
        wanted = (definitions, keyring)
        let build = activity.build
        enter(.restarting)
        do {
            if let build { try await stop(build) }
            try requireBaselines(definitions)
            let stage = MeshStage(log: log, keyring: keyring)
            let members = try definitions.map { try fresh($0, beside: served.folder($0.name).current()) }
            try await begin(members, stage, replacesLive: true)
        } catch {
            if case .restarting = activity { enter(.following) }
            guard try await takeUpLost() else { throw error }
        }
    }

    /// Refuses if a view has rows that only a damaged baseline could restore. A view that has already lost its earlier rows has nothing more to lose.
    func requireBaselines(_ definitions: [ViewDefinition]) throws {
        try baselines.requireBaselines(definitions.filter { try hasWholeRows($0) })
    }

    func hasWholeRows(_ definition: ViewDefinition) throws -> Bool { try served.store(definition)?.lost() == 0 }

    /// Views that are rebuilt leave the live pipeline: their old rows are served unchanged until the swap.
    func leaveLive(_ names: Set<String>) async throws {
        guard let live else { return }
        for folder in await live.projectors where names.contains(folder.viewName) {
            try await folder.flush(.request)
            await folder.stop()
        }
        await live.dismiss(names)
        liveMembers.removeAll { names.contains($0.definition.name) }
    }
}
