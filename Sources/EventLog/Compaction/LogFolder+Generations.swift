internal import Foundation

extension LogFolder {
    /// Removes what other generations have left. Whoever has one of them open can read it until it is closed.
    func removeGenerations(except current: UInt32) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: logPath)) ?? []  // then they stay
        let others = names.compactMap { UInt32($0) }.filter { $0 != current }
        // Else a power cut could bring back a file `current` that names one of them.
        guard !others.isEmpty, (try? SmallFile.syncFolder(logPath)) != nil else { return }  // the next opening tries again
        for number in others {
            try? FileManager.default.removeItem(atPath: environmentPath(generation: number))  // the next opening tries again
        }
    }
}
