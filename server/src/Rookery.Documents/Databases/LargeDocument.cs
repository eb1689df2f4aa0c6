using System.Buffers;
using Rookery.Documents.Commands;
using Rookery.Documents.Stored;

namespace Rookery.Documents.Databases;

/// <summary>Copies a part of a large value, checked, to a writer.</summary>
internal delegate void ValueCopy(IBufferWriter<byte> target, long offset, long count);

/// <summary>
/// A stored document that lies in chunks. What stands before its body is put together on the first look; the body goes
/// from its chunks straight to an answer, and is put together only for those who have to see all of it at once.
/// </summary>
internal sealed class LargeDocument(long length, ValueCopy copy) : IDisposable
{
    // Says where the body begins, whatever precedes it: see StoredDocument.BodyOffset.
    private const int PrefixBytes = 1200;

    private CommandBuffer? _head;
    private CommandBuffer? _whole;

    /// <summary>All but the body.</summary>
    public ReadOnlySpan<byte> Head => (_whole ?? (_head ??= ReadHead())).Written.Span[..BodyOffset];

    /// <summary>All of it.</summary>
    public ReadOnlySpan<byte> Whole => (_whole ??= Read(length)).Written.Span;

    private int BodyOffset => StoredDocument.BodyOffset((_whole ?? _head!).Written.Span);

    /// <summary>Writes the body's members.</summary>
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
        using var prefix = Read(Math.Min(PrefixBytes, length));
        return Read(StoredDocument.BodyOffset(prefix.Written.Span));
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
