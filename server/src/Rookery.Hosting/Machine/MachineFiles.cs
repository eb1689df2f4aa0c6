using System.Text;
using Rookery.Platform;
using Rookery.Server.Alerts;

namespace Rookery.Hosting.Machine;

/// <summary>
/// Reads the reports that other programs on this machine write for node_exporter, in the directory where Debian's
/// node_exporter looks for them.
/// </summary>
/// <param name="disk">The disk.</param>
public sealed class MachineFiles(PosixDisk disk)
{
    private const int MaxBytes = 16 << 10;

    private static readonly string[] Files = ["rookery_backup.prom", "rookery_slot.prom"];

    // A simulated board has these files in its own directory.
    private readonly string _directory = Path.Join(
        Environment.GetEnvironmentVariable(MachineBoard.SimulationVariable) is { Length: > 0 } root ? root : "/",
        "var/lib/prometheus/node-exporter"
    );

    /// <summary>Reads the files; missing and unreadable ones count as empty.</summary>
    public MachineNotes Read() => MachineNotes.Parse(Files.Select(name => ReadText(Path.Join(_directory, name))));

    private string? ReadText(string path)
    {
        try
        {
            if (!disk.Exists(path))
            {
                return null;
            }

            using var file = disk.Open(path, DiskOpen.Read);
            byte[] bytes = new byte[MaxBytes];
            return Encoding.UTF8.GetString(bytes, 0, file.Read(bytes, 0));
        }
        catch (DiskException)
        {
            return null; // not readable for this user, or just being replaced
        }
    }
}
