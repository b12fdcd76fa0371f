extension FieldTable {
    /// Name tables that rows and lists ask for often.
    private struct Names: Sendable {
        let ports: EnumDescription
        let hardware: EnumDescription
        let roles: EnumDescription
        let routingErrors: EnumDescription

        init(_ table: FieldTable) {
            func named(_ name: String) -> EnumDescription {
                table.enumeration(named: name) ?? EnumDescription(name: name, values: [])
            }
            ports = named("PortNum")
            hardware = named("HardwareModel")
            roles = named("Config.DeviceConfig.Role")
            routingErrors = named("Routing.Error")
        }
    }

    private static let names = Names(standard)

    private static func name(_ number: UInt32, in table: EnumDescription) -> String? {
        Int32(exactly: number).flatMap(table.name(of:))
    }

    /// The name of a port, such as `POSITION_APP`; nil for one that the schema does not have.
    public static func portName(_ port: UInt32) -> String? { name(port, in: names.ports) }

    /// The number of a port by its name, with or without `_APP`, in any case.
    public static func port(named text: String) -> UInt32? {
        let wanted = text.uppercased()
        let value = names.ports.values.first { $0.name == wanted || $0.name == wanted + "_APP" }
        return value.flatMap { UInt32(exactly: $0.number) }
    }

    /// The name of a hardware model, such as `HELTEC_V3`.
    public static func hardwareName(_ model: UInt32) -> String? { name(model, in: names.hardware) }

    /// The name of a device role, such as `ROUTER`.
    public static func roleName(_ role: UInt32) -> String? { name(role, in: names.roles) }

    /// The name of a routing error, such as `NO_ROUTE`.
    public static func routingErrorName(_ error: UInt32) -> String? { name(error, in: names.routingErrors) }
}
