internal import Foundation

/// How many cores this process may use, at least 1.
package let coreCount = max(ProcessInfo.processInfo.activeProcessorCount, 1)
