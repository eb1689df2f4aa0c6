using System.Buffers;
using Rookery.Platform;

namespace Rookery.Documents.Attachments;

/// <summary>
/// Writes one content into a temporary file while it arrives, and hashes it. Holds no buffer between two calls.
/// Disposing it deletes the file unless <see cref="CompleteAsync"/> renamed the file to its hash. Not thread-safe.
/// </summary>
public sealed class ContentUpload : IDisposable
{
    // A sync of the journal on the same disk must not wait for many dirty pages.
    private const long BytesBetweenSyncs = 4 << 20;

    // Maximum room that is reserved for an announced size before it is needed. Otherwise clients that announce much and
    // send little would make the node refuse all other uploads.
    private const long HeldBytes = 64 << 20;

    private readonly AttachmentContents _contents;
    private readonly uint _database;
    private readonly Blake2b _hash = new();
    private readonly List<uint> _checksums = [];
    private uint _chunkState = Checksum.Start;
    private int _chunkBytes; // of the chunk that is not complete
    private IDiskFile? _file;
    private long _written;
    private long _synced;
    private long _expected; // the announced size, with the table of checksums and the footer
    private long _reserved;
    private bool _isNamed;

    internal ContentUpload(AttachmentContents contents, uint database)
    {
        _contents = contents;
        _database = database;
    }

    /// <summary>The content that must arrive; null for an upload of a client.</summary>
    internal ContentName? Expected { get; init; }

    /// <summary>Bytes received so far.</summary>
    public long Length => _written;

    /// <summary>Adds bytes. Completes when they are in the file.</summary>
    /// <exception cref="DiskException">A write to the disk failed.</exception>
    /// <exception cref="ContentRefusedException">The content is too large, or the disk has no room.</exception>
    /// <exception cref="OperationCanceledException">The node stops.</exception>
    public async ValueTask WriteAsync(ReadOnlySequence<byte> data)
    {
        if (_written + data.Length > (Expected?.Size ?? _contents.MaxBytes))
        {
            throw Expected is { } expected
                ? ContentRefusedException.Differs(expected)
                : ContentRefusedException.TooLarge(_contents.MaxBytes);
        }

        if (data.IsEmpty)
        {
            return;
        }

        foreach (var segment in data)
        {
            _hash.Append(segment.Span);
            AddChecksums(segment.Span);
        }

        await _contents.RunAsync(() => Append(data));
    }

    /// <summary>
    /// Makes the content durable under its hash, and pins it: it is not deleted before the result is disposed.
    /// </summary>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    /// <exception cref="OperationCanceledException">The node stops.</exception>
    public async Task<PinnedContent> CompleteAsync()
    {
        PinnedContent? pinned = null;
        await _contents.RunAsync(() => pinned = Complete());
        _isNamed = true;
        return pinned!;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _file?.Dispose();
        _contents.End(_isNamed ? null : _file?.Path, _reserved);
    }

    internal void Open(Func<IDiskFile> create, long expectedBytes)
    {
        _expected = expectedBytes;
        _contents.RequireRoom(expectedBytes);
        _contents.Reserve(ref _reserved, Math.Min(expectedBytes, HeldBytes));
        _file = create();
    }

    private void AddChecksums(ReadOnlySpan<byte> data)
    {
        while (!data.IsEmpty)
        {
            int taken = Math.Min(ContentFormat.ChunkBytes - _chunkBytes, data.Length);
            _chunkState = Checksum.Append(_chunkState, data[..taken]);
            _chunkBytes += taken;
            data = data[taken..];
            if (_chunkBytes == ContentFormat.ChunkBytes)
            {
                EndChunk();
            }
        }
    }

    private void EndChunk()
    {
        _checksums.Add(Checksum.Finish(_chunkState));
        (_chunkState, _chunkBytes) = (Checksum.Start, 0);
    }

    private void Append(ReadOnlySequence<byte> data)
    {
        if (_written - _synced >= BytesBetweenSyncs)
        {
            _file!.Sync();
            _synced = _written;
        }

        if (_reserved < data.Length)
        {
            long left = _expected - _written;
            long next = left > 0 ? Math.Min(left, HeldBytes) : BytesBetweenSyncs;
            _contents.Reserve(ref _reserved, Math.Max(next, data.Length));
        }

        var buffer = PooledMemory.Rent((int)data.Length);
        try
        {
            data.CopyTo(buffer.Span);
            _file!.Write(buffer.Span[..(int)data.Length], _written);
        }
        finally
        {
            buffer.Return();
        }

        _written += data.Length;
        Spend(data.Length);
    }

    private PinnedContent Complete()
    {
        if (_chunkBytes > 0)
        {
            EndChunk();
        }

        Span<byte> bytes = stackalloc byte[ContentHash.Length];
        _hash.Finish(bytes);
        var hash = ContentHash.Read(bytes);
        if (Expected is { } expected && (hash != expected.Hash || _written != expected.Size))
        {
            throw ContentRefusedException.Differs(expected);
        }

        byte[] end = ContentFormat.WriteEnd([.. _checksums], _database, _written, hash);
        _contents.Reserve(ref _reserved, end.Length);
        _file!.Write(end, offset: _written);
        _file.Sync();
        return _contents.Name(_file.Path, _database, hash, _written);
    }

    private void Spend(long bytes)
    {
        _reserved -= bytes;
        _contents.Spend(bytes);
    }
}

/// <summary>
/// A durable content that is kept even without an attachment. Dispose it when its command is applied or refused.
/// </summary>
public sealed class PinnedContent : IDisposable
{
    private readonly ContentGarbage _garbage;
    private readonly ContentPlace _place;
    private bool _isDisposed;

    internal PinnedContent(ContentGarbage garbage, ContentPlace place, long size)
    {
        _garbage = garbage;
        _place = place;
        Size = size;
        garbage.BeginDurable(place);
    }

    /// <summary>The hash.</summary>
    public ContentHash Hash => _place.Hash;

    /// <summary>Size in bytes.</summary>
    public long Size { get; }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (!_isDisposed)
        {
            _isDisposed = true;
            _garbage.EndDurablePin(_place);
        }
    }
}
