import Testing

@testable import MeshIngest

struct MQTTAddressTests {
    @Test func `an address names broker, user and topic`() throws {
        let address = try MQTTAddress("mqtt://me%40home:se:cr%2Fet@broker.example:11883/msh/EU_868/#")
        #expect(address.host == "broker.example")
        #expect(address.port == 11_883)
        #expect(address.user == "me@home")
        #expect(address.password == "se:cr/et")
        #expect(address.topics == ["msh/EU_868/#"])
        #expect(!address.usesTLS)
    }

    @Test(arguments: [
        ("mqtt://host", 1883, "msh/#"), ("mqtts://host/", 8883, "msh/#"), ("mqtt://host/msh/US", 1883, "msh/US/#"),
        ("mqtt://[::1]:99/+/2/json/#", 99, "+/2/json/#"), ("MQTTS://host/a/", 8883, "a/#"),
    ])
    func `what is left out has a standard`(_ text: String, _ port: UInt16, _ topic: String) throws {
        let address = try MQTTAddress(text)
        #expect(address.port == port)
        #expect(address.topics == [topic])
    }

    @Test(arguments: [
        "host:1883", "http://host", "mqtt://", "mqtt://user@", "mqtt://host:0", "mqtt://host:70000", "mqtt://[::1",
        "mqtt://a%zz@host", "mqtt://a%+5@host", "mqtt://a%-0@host", "mqtt://host:+1883", "mqtt://host:",
    ])
    func `what is no address is refused`(_ text: String) {
        #expect(throws: IngestError.self) { try MQTTAddress(text) }
    }

    @Test func `the text of an address has no password`() throws {
        let address = try MQTTAddress("mqtts://me:secret@[::1]/msh/#")
        #expect(address.text == "mqtts://[::1]:8883")
        #expect("\(address)".contains("secret") == false)
    }
}
