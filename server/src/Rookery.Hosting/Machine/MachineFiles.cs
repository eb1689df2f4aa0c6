using System.Text;
using Rookery.Platform;
using Rookery.Server.Alerts;

namespace Rookery.Hosting.Machine;

/// <summary>What other programs noted on this machine for node_exporter, where Debian's looks for such files.</summary>
/// <param name="disk">The disk.</param>
internal sealed class MachineFiles(PosixDisk disk)
{
    private const int MostBytes = 16 << 10;

    private static readonly string[] Files = ["rookery_backup.prom", "rookery_slot.prom"];

    // Beside a simulated board lies what is noted of it, too.
    private readonly string _directory = Path.Join(
        Environment.GetEnvironmentVariable(MachineBoard.SimulationVariable) is { Length: > 0 } root ? root : "/",
        "var/lib/prometheus/node-exporter"
    );

    /// <summary>Reads the notes.</summary>
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
            byte[] bytes = new byte[MostBytes];
            return Encoding.UTF8.GetString(bytes, 0, file.Read(bytes, 0));
        }
        catch (DiskException)
        {
            return null; // not for this user's eyes, or being replaced
        }
    }
}
