using Rookery.Platform;

namespace Rookery.Documents.Backups;

/// <summary>Work with files that backup and restore share.</summary>
internal static class DurableFiles
{
    // A card that is asked to sync more at once holds up everybody else who syncs.
    private const int BytesBetweenSyncs = 512 << 10;

    /// <summary>What mkfs leaves at the top of a new file system.</summary>
    public const string LostAndFound = "lost+found";

    /// <summary>Whether a directory is missing or empty, apart from a name that does not count.</summary>
    public static bool IsEmpty(IDisk disk, string path, string apartFrom = LostAndFound) =>
        !disk.Exists(path)
        || disk.List(path)
            .All(name => name is LostAndFound || string.Equals(name, apartFrom, StringComparison.Ordinal));

    /// <summary>Deletes a directory with everything in it.</summary>
    public static void DeleteTree(IDisk disk, string path)
    {
        foreach (string name in disk.List(path))
        {
            Delete(disk, Path.Join(path, name));
        }

        disk.DeleteDirectory(path);
    }

    /// <summary>Deletes a file, or a directory with everything in it.</summary>
    public static void Delete(IDisk disk, string path)
    {
        try
        {
            disk.Delete(path);
        }
        catch (DiskException refused) when (refused.Error is Errno.IsDirectory or Errno.NotPermitted)
        {
            DeleteTree(disk, path);
        }
    }

    /// <summary>Appends to a file and syncs it each 512 KiB.</summary>
    public static void Append(IDiskFile file, ReadOnlySpan<byte> bytes, ref long offset)
    {
        file.Write(bytes, offset);
        long before = offset;
        offset += bytes.Length;
        if (before / BytesBetweenSyncs != offset / BytesBetweenSyncs)
        {
            file.Sync();
        }
    }

    /// <summary>
    /// Reads a file as long as it is now in pieces of up to 256 KiB, and gives its checksum. A device that never ends
    /// has no length.
    /// </summary>
    public static uint Read(IDiskFile file, Action<ReadOnlyMemory<byte>>? take)
    {
        byte[] buffer = new byte[BackupPiece.MaxBytes];
        uint state = Checksum.Start;
        long length = file.Length;
        for (long offset = 0; offset < length; )
        {
            int read = file.Read(buffer.AsSpan(0, (int)Math.Min(buffer.Length, length - offset)), offset);
            if (read == 0)
            {
                break;
            }

            state = Checksum.Append(state, buffer.AsSpan(0, read));
            take?.Invoke(buffer.AsMemory(0, read));
            offset += read;
        }

        return Checksum.Finish(state);
    }
}
