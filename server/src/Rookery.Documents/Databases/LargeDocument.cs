using System.Buffers;
using Rookery.Documents.Commands;
using Rookery.Documents.Stored;

namespace Rookery.Documents.Databases;

/// <summary>Copies a checked part of a large value to a writer.</summary>
internal delegate void ValueCopy(IBufferWriter<byte> target, long offset, long count);

/// <summary>
/// A document stored in chunks. The part before its body is assembled on first use. The body is copied chunk by chunk
/// to the output. It is assembled only if a caller needs the whole document at once.
/// </summary>
internal sealed class LargeDocument(long length, ValueCopy copy) : IDisposable
{
    private CommandBuffer? _head;
    private CommandBuffer? _whole;

    /// <summary>The stored bytes before the body.</summary>
    public ReadOnlySpan<byte> Head => (_whole ?? (_head ??= ReadHead())).Written.Span[..BodyOffset];

    /// <summary>All stored bytes.</summary>
    public ReadOnlySpan<byte> Whole => (_whole ??= Read(length)).Written.Span;

    private int BodyOffset => StoredDocument.BodyOffset((_whole ?? _head!).Written.Span);

    /// <summary>Writes the members of the body.</summary>
    public void WriteBody(IBufferWriter<byte> output)
    {
        int bodyOffset = Head.Length;
        copy(output, bodyOffset, length - bodyOffset);
    }

    public void Dispose()
    {
        _head?.Dispose();
        _whole?.Dispose();
        _head = _whole = null;
    }

    private CommandBuffer ReadHead()
    {
        using var prefix = Read(Math.Min(StoredDocument.PrefixBytes, length));
        long neededBytes = Math.Min(StoredDocument.PrefixBytesOf(prefix.Written.Span), length);
        if (neededBytes <= prefix.Length)
        {
            return Read(StoredDocument.BodyOffset(prefix.Written.Span));
        }

        using var longPrefix = Read(neededBytes);
        return Read(StoredDocument.BodyOffset(longPrefix.Written.Span));
    }

    private CommandBuffer Read(long bytes)
    {
        var buffer = CommandBuffer.Rent(checked((int)bytes));
        try
        {
            copy(buffer, 0, bytes);
            return buffer;
        }
        catch
        {
            buffer.Dispose();
            throw;
        }
    }
}
