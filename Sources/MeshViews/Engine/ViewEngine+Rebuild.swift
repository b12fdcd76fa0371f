import EventLog
import Foundation
import LMDB
import Meshtastic
import Projections

extension ViewEngine {
    /// Builds the named views anew from the first event, beside the served ones.
    /// - Parameter keepsOld: whether the old recipes stay, to go back to.
    func rebuild(
        _ definitions: [ViewDefinition], of all: [ViewDefinition], keyring: Keyring, keepsOld: Bool,
        progress: (@Sendable (FoldProgress) -> Void)?
    ) async throws {
        try await settle(nil)
        let names = Set(definitions.map(\.name))
        try requireBaselines(definitions)
        if keepsOld { keeping.formUnion(names) }
        let members = try definitions.map { try fresh($0, beside: served.folder($0.name).current(), fromFirst: true) }
        if names.count < all.count { try await leaveLive(names) }
        try await begin(members, MeshStage(log: log, keyring: keyring), replacesLive: names.count == all.count)
        try await settle(progress)
    }

    /// Other keys: every view is built anew with them, while the ones that there are go on following and answering.
    func restart(_ definitions: [ViewDefinition], keyring: Keyring) async throws {
        while let erasure { _ = try? await erasure.value }  // it was told to whoever asked for it
        isRestarting = true
        defer { isRestarting = false }
        try await cancelBuild()
        try requireBaselines(definitions)
        let stage = MeshStage(log: log, keyring: keyring)
        let members = try definitions.map { try fresh($0, beside: served.folder($0.name).current()) }
        try await begin(members, stage, replacesLive: true)
    }

    /// Refuses where a view has rows that only a damaged baseline could make again. One that has lost its earlier rows already has no more to lose.
    func requireBaselines(_ definitions: [ViewDefinition]) throws {
        try baselines.requireBaselines(definitions.filter { try hasWholeRows($0) })
    }

    func hasWholeRows(_ definition: ViewDefinition) throws -> Bool { try served.store(definition)?.lost() == 0 }

    /// Leaves an unfinished build where it is; its files are taken up again or removed by a later one.
    func cancelBuild() async throws {
        guard let build else { return }
        buildTask?.cancel()
        await build.pipeline.stop()
        _ = await buildTask?.result
        buildTask = nil
        guard self.build != nil else { return }  // it had finished just before
        try await build.pipeline.flush(.close)
        for member in build.members { member.store.close() }
        finishBuild()
    }

    /// Views that are built anew leave the live pipeline: their old rows are served as they are until the swap.
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
