using System.Text;
using Rookery.Platform;

namespace Rookery.Hosting.Machine;

/// <summary>Reads the kernel's tables under /proc/net.</summary>
public static class KernelTable
{
    private const int MaxBytes = 1 << 20;

    /// <summary>Returns the text of a table; empty if it cannot be read.</summary>
    public static string Read(PosixDisk disk, string path)
    {
        try
        {
            using var file = disk.Open(path, DiskOpen.Read);
            byte[] bytes = new byte[MaxBytes];
            return Encoding.ASCII.GetString(bytes, 0, file.Read(bytes, 0));
        }
        catch (DiskException)
        {
            return string.Empty;
        }
    }
}
