using Rookery.Board;
using Rookery.Platform;

namespace Rookery.Hosting.Machine;

/// <summary>Opens the board that this process runs on.</summary>
public static class MachineBoard
{
    /// <summary>
    /// The environment variable that names a directory with <c>sys</c> and <c>proc</c> of a simulated board.
    /// </summary>
    public const string SimulationVariable = "ROOKERY_SIMULATED_BOARD";

    /// <summary>Opens the board. Its storage devices are those of the data and the journal directories.</summary>
    public static LinuxBoard Open(IDisk disk, TimeProvider time, params IEnumerable<string?> directories) =>
        new(
            disk,
            time,
            directories.OfType<string>().Select(directory => DeviceOf(disk, directory)),
            Environment.GetEnvironmentVariable(SimulationVariable) is { Length: > 0 } simulated
                ? Path.GetFullPath(simulated)
                : "/"
        );

    /// <summary>
    /// Returns the device of a directory. If the directory does not exist yet, that of its nearest existing parent.
    /// </summary>
    public static string DeviceOf(IDisk disk, string path)
    {
        string? directory = path;
        while (directory is not null && !disk.Exists(directory))
        {
            directory = Path.GetDirectoryName(directory);
        }

        return directory is null ? "unknown" : disk.DeviceOf(directory);
    }
}
