package import MeshLedger

extension MetricField {
    /// The unit that Meshtastic documents for the metric, or nil for counts and indexes.
    package var unit: String? {
        if let unit = Self.units[name] { return unit }
        return Self.suffixes.first { name.hasSuffix($0.suffix) }?.unit
    }

    private static let units: [String: String] = [
        "battery_level": "%", "relative_humidity": "%", "soil_moisture": "%", "barometric_pressure": "hPa",
        "gas_resistance": "MΩ", "distance": "mm", "lux": "lx", "weight": "kg", "radiation": "µR/h", "wind_direction": "°",
        "wind_speed": "m/s", "wind_gust": "m/s", "wind_lull": "m/s", "rainfall_1h": "mm", "rainfall_24h": "mm", "co2": "ppm",
        "form_formaldehyde": "ppb", "heart_bpm": "bpm", "spO2": "%", "noise_floor": "dBm", "channel_utilization": "%",
        "air_util_tx": "%", "nitrogen": "mg/kg", "phosphorus": "mg/kg", "potassium": "mg/kg", "electrical_conductivity": "mS/cm",
        "salinity": "mg/l", "dissolved_oxygen": "mg/l", "orp": "mV", "chemical_oxygen_demand": "mg/l",
        "biochemical_oxygen_demand": "mg/l", "turbidity": "NTU", "nitrate": "ppm", "ammonium": "ppm", "solar_irradiance": "W/m²",
    ]

    private static let suffixes: [(suffix: String, unit: String)] = [
        ("_seconds", "s"), ("_lux", "lx"), ("voltage", "V"), ("current", "mA"), ("temperature", "°C"), ("_humidity", "%"),
        ("_bytes", "B"), ("_standard", "µg/m³"), ("_environmental", "µg/m³"),
    ]
}
