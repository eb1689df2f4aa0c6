using Rookery.Platform;

namespace Rookery.Simulation;

/// <summary>Reads and writes whole files of any disk.</summary>
public static class DiskFiles
{
    /// <summary>Returns the content of a file.</summary>
    public static byte[] ReadAll(this IDisk disk, string path)
    {
        using var file = disk.Open(path, DiskOpen.Read);
        byte[] content = new byte[file.Length];
        Invariant.Holds(file.Read(content, offset: 0) == content.Length, "a file reads to its end");
        return content;
    }

    /// <summary>Creates a file with a content, without a sync.</summary>
    public static void WriteNew(this IDisk disk, string path, ReadOnlySpan<byte> content)
    {
        using var file = disk.Open(path, DiskOpen.CreateNew);
        file.Write(content, offset: 0);
    }
}
