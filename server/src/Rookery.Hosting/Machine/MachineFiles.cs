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
    private static readonly string[] Files = ["rookery_backup.prom", "rookery_slot.prom"];

    private readonly string _directory = Path.Join(SmallFile.Root, "var/lib/prometheus/node-exporter");

    /// <summary>Reads the files; missing and unreadable ones count as empty.</summary>
    public MachineNotes Read() =>
        MachineNotes.Parse(Files.Select(name => SmallFile.ReadText(disk, Path.Join(_directory, name))));
}
