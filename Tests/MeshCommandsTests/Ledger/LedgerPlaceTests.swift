import Testing

@testable import MeshCommands

struct LedgerPlaceTests {
    @Test func `W3: the option wins over the environment, and that over the XDG folder`() {
        let environment = ["MESHLEDGER": "/env", "XDG_DATA_HOME": "/data", "HOME": "/home/me"]
        #expect(LedgerOption.path("/option", environment) == "/option")
        #expect(LedgerOption.path(nil, environment) == "/env")
        #expect(LedgerOption.path(nil, ["XDG_DATA_HOME": "/data", "HOME": "/home/me"]) == "/data/meshledger/mesh.ledger")
        #expect(LedgerOption.path(nil, ["HOME": "/home/me"]) == "/home/me/.local/share/meshledger/mesh.ledger")
    }

    @Test func `empty and relative settings are passed over`() {
        #expect(
            LedgerOption.path(nil, ["MESHLEDGER": "", "XDG_DATA_HOME": "relative", "HOME": "/home/me"])
                == "/home/me/.local/share/meshledger/mesh.ledger")
    }
}
