import Meshtastic
import Testing

@Suite struct TopicTests {
    @Test(arguments: [
        ("msh/2/e/LongFast/!36072603", "msh", Topic.Kind.envelope, "LongFast", UInt32(0x3607_2603)),
        ("msh/EU_868/PL/2/e/Long Fast/!00000010", "msh/EU_868/PL", .envelope, "Long Fast", 16),
        ("msh/US/2/c/2/!1", "msh/US", .oldEnvelope, "2", 1),
        ("2/json/Żółw 🐢/!ffffffff", "", .json, "Żółw 🐢", .max),
        ("/msh/2/e/PKI/!abcdef01", "/msh", .envelope, "PKI", 0xabcd_ef01),
        ("my/2/e/2/e/e/!00000002", "my/2/e", .envelope, "e", 2),
    ])
    func `the version is found wherever the root ends`(
        text: String, root: String, kind: Topic.Kind, channel: String, gateway: UInt32
    ) {
        let topic = Topic(parsing: text)
        #expect(topic?.root == root && topic?.kind == kind && topic?.channel == channel && topic?.gateway == gateway)
        #expect(topic?.isDirect == (channel == "PKI"))
    }

    @Test func `map reports and status have no channel`() {
        let map = Topic(parsing: "msh/EU_868/2/map/")
        #expect(map?.kind == .mapReport && map?.channel == nil && map?.gatewayText == nil)
        let status = Topic(parsing: "msh/2/stat/!0000abcd")
        #expect(status?.kind == .status && status?.channel == nil && status?.gateway == 0xabcd)
    }

    @Test func `a topic that lacks parts keeps what it has`() {
        #expect(Topic(parsing: "msh/2/e")?.channel == nil)
        #expect(Topic(parsing: "msh/2/e/LongFast")?.channel == "LongFast")
        let odd = Topic(parsing: "msh/2/e/LongFast/gateway")
        #expect(odd?.gatewayText == "gateway" && odd?.gateway == nil)
        #expect(Topic(parsing: "msh/2/e/A/!123456789")?.gateway == nil)
    }

    @Test(arguments: ["", "/", "msh", "msh/2", "msh/2/x/LongFast/!1", "msh/e/LongFast/!1", "2", "msh/22/e/L/!1"])
    func `what is no topic of a gateway gives none`(text: String) { #expect(Topic(parsing: text) == nil) }
}
