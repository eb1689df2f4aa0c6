using Rookery.Platform;

namespace Rookery.Documents.Backups;

/// <summary>File operations that backup and restore share.</summary>
internal static class DurableFiles
{
    // Syncing more at once would delay all other syncs on an SD card.
    private const int BytesBetweenSyncs = 512 << 10;

    /// <summary>Directory that mkfs creates at the top of a new file system.</summary>
    public const string LostAndFound = "lost+found";

    /// <summary>
    /// Returns whether a directory is missing or empty, ignoring <c>lost+found</c> and <paramref name="apartFrom"/>.
    /// </summary>
    public static bool IsEmpty(IDisk disk, string path, string apartFrom = LostAndFound) =>
        !disk.Exists(path)
        || disk.List(path)
            .All(name => name is LostAndFound || string.Equals(name, apartFrom, StringComparison.Ordinal));

    /// <summary>Deletes a directory with its content.</summary>
    public static void DeleteTree(IDisk disk, string path)
    {
        foreach (string name in disk.List(path))
        {
            Delete(disk, Path.Join(path, name));
        }

        disk.DeleteDirectory(path);
    }

    /// <summary>Deletes a file, or a directory with its content.</summary>
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

    /// <summary>Appends to a file and syncs it every 512 KiB. Advances <paramref name="offset"/>.</summary>
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
    /// Reads a file in pieces of at most 256 KiB and returns its CRC-32C. Reads up to the file's length at the start of
    /// the call, so it ends even if the file grows.
    /// </summary>
    /// <param name="file">The file.</param>
    /// <param name="pieceRead">Receives each piece, valid until the call returns; null if only the checksum is
    /// needed.</param>
    public static uint Read(IDiskFile file, Action<ReadOnlyMemory<byte>>? pieceRead)
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
            pieceRead?.Invoke(buffer.AsMemory(0, read));
            offset += read;
        }

        return Checksum.Finish(state);
    }
}
