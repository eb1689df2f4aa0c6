using System.Text;
using Rookery.Platform;

namespace Rookery.Hosting.Machine;

/// <summary>Reads files of other programs on this machine.</summary>
public static class SmallFile
{
    private const int MaxBytes = 16 << 10;

    /// <summary>The directory that contains the files. A simulated board has them in its own directory.</summary>
    public static string Root =>
        Environment.GetEnvironmentVariable(MachineBoard.SimulationVariable) is { Length: > 0 } root ? root : "/";

    /// <summary>
    /// Returns the first 16 KiB of a file as text; null if it is missing, unreadable for this user, or just being
    /// replaced.
    /// </summary>
    public static string? ReadText(PosixDisk disk, string path)
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
            return null;
        }
    }
}
