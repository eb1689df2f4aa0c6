using Rookery.Platform;

namespace Rookery.Documents.Attachments;

/// <summary>
/// An open content, for reading. Every chunk is checked when it is read. It stays readable if its file is deleted
/// meanwhile. Not thread-safe.
/// </summary>
public sealed class ContentFile : IDisposable
{
    private readonly IDiskFile _file;
    private readonly ContentPlace _place;
    private readonly ContentTroubles _troubles;

    private ContentFile(IDiskFile file, ContentPlace place, long size, ContentTroubles troubles)
    {
        _file = file;
        _place = place;
        _troubles = troubles;
        Size = size;
        ChunkCount = ContentFormat.ChunkCount(size);
    }

    /// <summary>Length that the buffer of <see cref="ReadChunk"/> must have.</summary>
    public const int ChunkBytes = ContentFormat.ChunkBytes;

    /// <summary>Size of the content in bytes.</summary>
    public long Size { get; }

    /// <summary>Number of chunks.</summary>
    public int ChunkCount { get; }

    /// <summary>Opens a content and checks its footer.</summary>
    /// <exception cref="ContentDamagedException">The file is missing or damaged.</exception>
    internal static ContentFile Open(IDisk disk, string path, ContentPlace place, ContentTroubles troubles)
    {
        IDiskFile file;
        try
        {
            file = disk.Open(path, DiskOpen.Read);
        }
        catch (DiskException refused) when (refused.Error == Errno.NoEntry)
        {
            throw new ContentDamagedException($"The content {path} of an attachment is missing.") { IsMissing = true };
        }

        try
        {
            return ContentFormat.ReadEnd(file, place, out long size) is { } problem
                ? throw Report(troubles, place, $"The content {path} of an attachment is damaged: {problem}.")
                : new ContentFile(file, place, size, troubles);
        }
        catch
        {
            file.Dispose();
            throw;
        }
    }

    /// <summary>Reads and checks a chunk.</summary>
    /// <param name="index">Number of the chunk, from 0.</param>
    /// <param name="buffer">At least <see cref="ChunkBytes"/> bytes.</param>
    /// <returns>Length of the chunk; all but the last have <see cref="ChunkBytes"/>.</returns>
    /// <exception cref="ContentDamagedException">The chunk is damaged.</exception>
    public int ReadChunk(int index, Span<byte> buffer)
    {
        long offset = (long)index * ChunkBytes;
        int length = LengthOf(index);
        return
            _file.Read(buffer[..length], offset) == length
            && Checksum.Of(buffer[..length]) == ContentFormat.ReadChunkChecksum(_file, Size, index)
            ? length
            : throw Report(
                _troubles,
                _place,
                $"The content {_file.Path} of an attachment is damaged in the {ChunkBytes >> 10} KiB "
                    + $"from byte {offset}."
            );
    }

    /// <summary>Returns the length of a chunk.</summary>
    internal int LengthOf(int index) => (int)Math.Min(ChunkBytes, Size - ((long)index * ChunkBytes));

    /// <summary>Reads from the table of checksums and the footer, which follow the content, without a check.</summary>
    /// <returns>Bytes read.</returns>
    internal int ReadEnd(Span<byte> buffer, long offset) => _file.Read(buffer, offset);

    /// <inheritdoc/>
    public void Dispose() => _file.Dispose();

    private static ContentDamagedException Report(ContentTroubles troubles, ContentPlace place, string sentence)
    {
        troubles.Add(place, sentence);
        return new ContentDamagedException(sentence);
    }
}

/// <summary>Thrown if the content of an attachment cannot be read.</summary>
/// <param name="message">The file and the damage, in one sentence.</param>
public sealed class ContentDamagedException(string message) : IOException(message)
{
    /// <summary>Whether the file is missing. It may have been deleted because its last attachment was.</summary>
    public bool IsMissing { get; init; }
}
