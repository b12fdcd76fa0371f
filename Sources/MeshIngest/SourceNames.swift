import EventLog

/// The log's numbers for the sources of one import or connection, looked up once each.
///
/// Names come from outside. Above the limit, events go to the source that contains the one that they name.
struct SourceNames {
    static let limit = 65_536
    static let lengthLimit = 400

    let log: any EventSink
    let base: String
    private var known: [String: SourceID] = [:]

    init(log: any EventSink, base: String) {
        self.log = log
        self.base = base
    }

    mutating func id(_ origin: IngestRecord.Origin) async throws(IngestError) -> SourceID {
        switch origin {
        case .file: try await id(named: base)
        case .within(let part): try await id(named: base + "/" + part)
        case .named(let name): try await id(named: name)
        }
    }

    mutating func id(named name: String) async throws(IngestError) -> SourceID {
        // Checked before it is looked up: hashing some texts takes time quadratic in their length.
        let isShort = name.utf8.count <= Self.lengthLimit
        if isShort || name.utf8.elementsEqual(base.utf8), let id = known[name] { return id }
        let fits = known.count < Self.limit && isShort && !name.isEmpty
        guard fits || name.utf8.elementsEqual(base.utf8) else { return try await id(named: base) }
        do {
            let id = try await log.reserveSource(named: name)
            known[name] = id
            return id
        } catch {
            throw IngestError(ledger: error, subject: name, reason: "the source could not be stored")
        }
    }
}
