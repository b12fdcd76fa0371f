import Foundation

/// The program that shows long output page by page on a terminal.
final class Pager {
    /// Where to write what it shows.
    private(set) var descriptor: Int32
    private let process: pid_t

    /// `$PAGER`, else `less`; nil where that is empty, `cat`, or not there.
    static func command(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> String? {
        guard environment["TERM"] != "dumb" else { return nil }
        guard let chosen = environment["PAGER"] else { return isThere("less", environment) ? "less -FRX" : nil }
        let command = chosen.trimmingCharacters(in: .whitespaces)
        return command.isEmpty || command == "cat" || !isThere(command, environment) ? nil : command
    }

    /// Whether the program of a command is there. What only a shell understands is left to it.
    private static func isThere(_ command: String, _ environment: [String: String]) -> Bool {
        let program = String(command.prefix { $0 != " " })
        if program.contains(where: { "=\"'$`(){}|&;<>\\~".contains($0) }) { return true }
        if program.contains("/") { return FileManager.default.isExecutableFile(atPath: program) }
        let folders = (environment["PATH"] ?? "").split(separator: ":")
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }

    /// Nil where it cannot be started; output then goes to the terminal as it is.
    init?(_ command: String) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        let (input, output) = (ends[0], ends[1])
        _ = fcntl(output, F_SETFD, FD_CLOEXEC)
        var environment = ProcessInfo.processInfo.environment
        if environment["LESS"] == nil { environment["LESS"] = "FRX" }
        var actions = unsafe posix_spawn_file_actions_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { return nil }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        _ = unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
        if input > 2 { _ = unsafe posix_spawn_file_actions_addclose(&actions, input) }
        let words: [String] = ["/bin/sh", "-c", command] + environment.map { "\($0.key)=\($0.value)" }
        let texts: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) }
        defer { unsafe texts.forEach { unsafe free($0) } }
        let (arguments, variables) = unsafe (Array(texts.prefix(3)) + [nil], Array(texts.dropFirst(3)) + [nil])
        var child: pid_t = 0
        let status = unsafe posix_spawn(&child, "/bin/sh", &actions, nil, arguments, variables)
        close(input)
        guard status == 0 else {
            close(output)
            return nil
        }
        (descriptor, process) = (output, child)
        // The pager takes Control-C for itself.
        signal(SIGINT, SIG_IGN)
    }

    /// Tells it that nothing more comes, and waits until its reader has done.
    func end() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        signal(SIGINT, SIG_DFL)
    }

    deinit { end() }
}
