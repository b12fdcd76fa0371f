import MeshLedger

/// What is in the folder of a log.
extension DeltaLog {
    /// The hash of each file of the log that readers of the current version, or we, start from.
    func hashes() throws -> [String: String] {
        var paths = (max(checkpoint, 0)...max(version, 0)).map { Self.path($0, "json", folder) }
        if checkpoint >= 0 { paths.append(Self.path(checkpoint, "checkpoint.parquet", folder)) }
        paths += Self.beginnings.map { folder + "/" + $0 }
        var hashes: [String: String] = [:]
        for path in paths { hashes[String(path.dropFirst(folder.count + 1))] = try PartFile.sha256(of: path) }
        return hashes
    }

    /// The names of commits that other programs have made since the last checkpoint.
    var foreignCommits: [String] { foreign.map { name($0, "json") } }

    /// The names of what no run has put into the folder. Readers may take it for a part of the log.
    func foreignFiles() throws -> [String] {
        try LakeFolder.names(folder).filter { name in
            if name.hasSuffix(".tmp") || Self.beginnings.contains(name) { return false }
            if dropped.contains(name) { return true }
            let parts = name.split(separator: ".", maxSplits: 1)
            guard parts.count == 2, parts[0].utf8.count == 20, let version = Int(parts[0]) else { return true }
            if parts[1] == "json" { return false }
            return parts[1] != "checkpoint.parquet" || !isCheckpoint(version, name)
        }
    }

    private func isCheckpoint(_ version: Int, _ name: String) -> Bool {
        if version == checkpoint { return true }
        if let olderCheckpoints { return olderCheckpoints[name] != nil }
        return version < checkpoint && LakeFolder.size(of: Self.path(version, "json", folder)) != nil
    }

    /// The checkpoint that a run writes before `.state` says so; an interrupted one leaves it.
    func isUnfinished(_ name: String) -> Bool { name == self.name(version, "checkpoint.parquet") }

    /// The hashes of the checkpoints so far, by name.
    /// - Parameter dropped: those that do not count.
    func checkpoints(without dropped: Set<String>) throws -> [String: String] {
        var names = Set(olderCheckpoints.map { Array($0.keys) } ?? [])
        if olderCheckpoints == nil {
            names = Set(try LakeFolder.names(folder).filter { $0.hasSuffix(".checkpoint.parquet") })
            names.subtract(try foreignFiles())
        }
        if checkpoint >= 0 { names.insert(name(checkpoint, "checkpoint.parquet")) }
        var hashes: [String: String] = [:]
        for name in names.subtracting(dropped) {
            // A checkpoint keeps its first hash, so that one changed since is not taken for ours.
            hashes[name] = try olderCheckpoints?[name] ?? PartFile.sha256(of: "\(folder)/\(name)")
        }
        return hashes.filter { LakeFolder.size(of: "\(folder)/\($0.key)") != nil }
    }

    func name(_ version: Int, _ ending: String) -> String {
        String(Self.path(version, ending, folder).dropFirst(folder.count + 1))
    }

    /// The paths of all files in its folders of days.
    func filesOfDays() throws -> [String] {
        try LakeFolder.names(table).filter { $0.hasPrefix("day=") }.flatMap { day in
            try LakeFolder.names("\(table)/\(day)").map { "\(day)/\($0)" }
        }
    }

    /// The files of earlier versions that must still be there, as they were.
    /// - Parameter since: files that were removed until then may be gone, in milliseconds since 1970.
    func promised(since: Int64) -> [File] {
        removed.values.filter { $0.time > since }.compactMap(\.file).filter { LakeManifest.isPart($0.path) }
            .sorted { $0.path < $1.path }
    }
}
