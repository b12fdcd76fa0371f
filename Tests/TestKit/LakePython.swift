import Foundation

/// A Python that has DuckDB, polars, pyarrow, pandas, geopandas and deltalake, and the scripts of `Tests/Analytics` that it runs.
public enum LakePython {
    /// `$MESHLEDGER_LAKE_PYTHON`, else the one that `Tools/test` makes; nil where there is none.
    public static let path: String? = {
        let made = PackageRoot.url.appendingPathComponent(".tools/lake-venv/bin/python").path
        let wanted = ProcessInfo.processInfo.environment["MESHLEDGER_LAKE_PYTHON"] ?? made
        return FileManager.default.isExecutableFile(atPath: wanted) ? wanted : nil
    }()

    /// Why a test is skipped without it.
    public static let need = "needs a Python with DuckDB, polars, pyarrow and deltalake, which Tools/test makes"

    @discardableResult
    public static func run(_ script: String, _ arguments: [String]) throws -> String {
        guard let path else { throw ProgramFailure(need) }
        let place = PackageRoot.url.appendingPathComponent("Tests/Analytics/\(script)").path
        return try Program.run(
            URL(fileURLWithPath: path), [place] + arguments, adding: ["PYTHONDONTWRITEBYTECODE": "1"])
    }
}
