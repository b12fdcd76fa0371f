import ArgumentParser
import Foundation

struct ServiceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service", abstract: "Run as a service of the system.", shouldDisplay: false,
        subcommands: [ServiceInstallCommand.self])
}

struct ServiceInstallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Write a hardened systemd unit that runs a configuration.",
        discussion: """
            The service runs as its own user, created by systemd, on a read-only file system: it can write only to /var/lib/meshledger, and open serial ports and sockets.
            An existing unit is replaced. Afterwards: `systemctl daemon-reload`, then `systemctl enable --now meshledger`.

              meshledger service install --config /etc/meshledger/mesh.yaml
              meshledger service install --print
            """)

    @Option(help: "The configuration.", completion: .file()) var config = "/etc/meshledger/mesh.yaml"
    @Option(
        name: .shortAndLong, help: ArgumentHelp("Where the unit is written.", valueName: "file"), completion: .file())
    var output = "/etc/systemd/system/meshledger.service"
    @Option(help: "The program that the service runs, if not this one.", completion: .file()) var program: String?
    @Flag(help: "Run as the user meshledger of the Debian package; else systemd creates a user while the service runs.")
    var systemUser = false
    @Flag(help: "Print the unit; write nothing.") var print = false

    func run() throws {
        guard config.hasPrefix("/") else {
            throw CommandError(.usage, "--config needs an absolute path, such as /etc/meshledger/mesh.yaml")
        }
        if let program, !print, !FileManager.default.isExecutableFile(atPath: program) {
            throw CommandError(.noInput, "--program \(program) is not a program that can be run; give the path of meshledger")
        }
        let program = program ?? URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
        let unit = ServiceUnit(program: program, config: config, hasSystemUser: systemUser).text
        guard !print else { return StandardOutput().write(unit) }
        let file = try StandardOutput(file: output)
        file.write(unit)
        file.flush()
        try OutputFiles.keepAll()
        StandardOutput().line(
            "\(DisplayWidth.safe(output)) is written; `systemctl daemon-reload && systemctl enable --now meshledger` starts it")
    }
}

/// The systemd unit of `meshledger run`.
struct ServiceUnit {
    var program: String
    var config: String
    /// Whether its user exists independently of the service.
    var hasSystemUser = false

    /// An argument as systemd reads it: quoted, with systemd's escapes.
    private static func quoted(_ text: String) -> String {
        "\""
            + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("%", with: "%%").replacing(
                "$", with: "$$") + "\""
    }

    var text: String {
        """
        [Unit]
        Description=MeshLedger: keeps every Meshtastic packet
        After=network-online.target
        Wants=network-online.target
        ConditionPathExists=\(config.replacing("%", with: "%%"))

        [Service]
        Type=notify
        ExecStart=\(Self.quoted(program)) run \(Self.quoted(config))
        ExecReload=/bin/kill -HUP $MAINPID
        Environment=MESHLEDGER=/var/lib/meshledger/mesh.ledger
        Restart=on-failure
        RestartSec=5
        TimeoutStartSec=10min
        TimeoutStopSec=20
        WatchdogSec=120
        UMask=0077

        # A user of its own; dialout may open serial ports.
        DynamicUser=\(hasSystemUser ? "no" : "yes")
        User=meshledger
        SupplementaryGroups=dialout
        StateDirectory=meshledger
        StateDirectoryMode=0700
        WorkingDirectory=/var/lib/meshledger

        # What it needs: files of its own, serial ports, sockets.
        NoNewPrivileges=yes
        CapabilityBoundingSet=
        AmbientCapabilities=
        ProtectSystem=strict
        ProtectHome=yes
        PrivateTmp=yes
        DevicePolicy=closed
        DeviceAllow=char-ttyUSB rw
        DeviceAllow=char-ttyACM rw
        DeviceAllow=char-ttyS rw
        DeviceAllow=char-ttyAMA rw
        ProtectClock=yes
        ProtectControlGroups=yes
        ProtectHostname=yes
        ProtectKernelLogs=yes
        ProtectKernelModules=yes
        ProtectKernelTunables=yes
        ProtectProc=invisible
        ProcSubset=pid
        RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        RemoveIPC=yes
        LockPersonality=yes
        MemoryDenyWriteExecute=yes
        SystemCallArchitectures=native
        SystemCallFilter=@system-service
        SystemCallFilter=~@privileged @resources
        SystemCallErrorNumber=EPERM

        [Install]
        WantedBy=multi-user.target

        """
    }
}
