import MeshViews
import Projections

extension ViewEngine {
    /// What the engine does beside following the log.
    ///
    /// `following` and `failed` lead to `building` (a rebuild, other keys through `restarting`) and to `erasing`, which ends in `following`, or in `building`
    /// where views are to be made again. `building` ends in `following`, or in `failed`. Each leads to `closed`, `erasing` only after its end.
    enum Activity {
        /// Nothing else.
        case following
        /// Builds views beside the served ones.
        case building(Build)
        /// A build could not go on, or its views could not be served; nil once a caller has received the error. What is left of the build waits to be continued.
        case failed(Build?, (any Error)?)
        /// A build was stopped for another one that has not begun.
        case restarting
        /// Erases events; no view is kept meanwhile.
        case erasing
        case closed

        /// What is built, or was when it failed.
        var build: Build? {
            switch self {
            case .building(let build): build
            case .failed(let build, _): build
            case .following, .restarting, .erasing, .closed: nil
            }
        }

        var isClosed: Bool {
            if case .closed = self { true } else { false }
        }
    }

    /// Views that are built beside the served ones. Belongs to the engine.
    final class Build {
        let pipeline: FoldPipeline<MeshStage>
        let stage: MeshStage
        let members: [Member]
        let replacesLive: Bool
        var progress: FoldProgress?
        /// Whether its views are those that follow the log now.
        var hasTakenOver = false
        var task: Task<Void, Never>?

        init(pipeline: FoldPipeline<MeshStage>, stage: MeshStage, members: [Member], replacesLive: Bool) {
            (self.pipeline, self.stage, self.members, self.replacesLive) = (pipeline, stage, members, replacesLive)
        }
    }
}
