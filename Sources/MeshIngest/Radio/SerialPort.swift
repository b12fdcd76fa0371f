import Foundation

/// A serial port as radios use it: 115,200 baud, 8 data bits, no parity, 1 stop bit, raw.
enum SerialPort {
    /// Opens it for this process alone.
    ///
    /// - Throws: `IngestError`
    static func open(_ path: String, raisesDTR: Bool) throws(IngestError) -> Int32 {
        // Without O_NONBLOCK, opening waits for a modem's carrier.
        let descriptor = unsafe Foundation.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw errno == EISDIR ? noPort(path) : failure(path, "cannot be opened", errno) }
        do throws(IngestError) {
            try configure(descriptor, path, raisesDTR: raisesDTR)
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func configure(_ descriptor: Int32, _ path: String, raisesDTR: Bool) throws(IngestError) {
        guard isatty(descriptor) == 1 else { throw noPort(path) }
        // TIOCEXCL does not stop the superuser; the lock then still keeps two instances of this program apart.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw IngestError(.busy, subject: path, reason: "another program uses this port; a radio has one client at a time")
        }
        guard ioctl(descriptor, UInt(TIOCEXCL)) == 0 else { throw failure(path, "cannot be taken", errno) }
        var settings = termios()
        guard unsafe tcgetattr(descriptor, &settings) == 0 else { throw failure(path, "cannot be configured", errno) }
        unsafe cfmakeraw(&settings)
        settings.c_cflag |= tcflag_t(CLOCAL | CREAD)
        // HUPCL drops DTR when the port is closed, which resets many boards.
        settings.c_cflag &= ~tcflag_t(HUPCL | CSTOPB | PARENB)
        unsafe cfsetspeed(&settings, speed_t(B115200))
        guard unsafe tcsetattr(descriptor, TCSANOW, &settings) == 0 else { throw failure(path, "cannot be configured", errno) }
        var lines = Int32(TIOCM_DTR)
        // A pseudo-terminal has no such lines, nor do some adapters.
        _ = unsafe ioctl(descriptor, UInt(raisesDTR ? TIOCMBIS : TIOCMBIC), &lines)
    }

    /// - Throws: `IngestError` if something else than a device is at the path
    static func check(_ path: String) throws(IngestError) {
        var info = stat()
        guard unsafe stat(path, &info) == 0, info.st_mode & S_IFMT != S_IFCHR else { return }
        throw noPort(path)
    }

    private static func noPort(_ path: String) -> IngestError {
        IngestError(.wrongFormat, subject: path, reason: "this is not a serial port; radios on USB are in /dev/serial/by-id")
    }

    private static func failure(_ path: String, _ what: String, _ code: Int32) -> IngestError {
        switch code {
        case ENOENT, ENODEV, ENXIO, EIO:
            IngestError(.notFound, subject: path, reason: "there is no device here", cause: errorText(code))
        case EACCES, EPERM:
            IngestError(
                .noPermission, subject: path, reason: "no permission to use this port; its group (often dialout) has it",
                cause: errorText(code))
        case EBUSY: IngestError(.busy, subject: path, reason: "another program uses this port; a radio has one client at a time")
        default: IngestError(.unreachable, subject: path, reason: what, cause: errorText(code))
        }
    }
}
