import Glibc

/// Why a call of the system failed, for the message of an error.
package enum SystemError {
    /// The system's words, and for a full disk what to do.
    package static func text(_ number: Int32 = errno) -> String {
        let words = unsafe String(cString: strerror(number))
        return number == ENOSPC || number == EDQUOT ? "\(words); free some space, then run it again" : words
    }
}
