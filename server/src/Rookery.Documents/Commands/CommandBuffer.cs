using System.Buffers;

namespace Rookery.Documents.Commands;

/// <summary>
/// Pooled memory that holds one encoded command. It has one owner at a time: whoever holds it last disposes it, once; proposing it passes it on.
/// </summary>
public sealed class CommandBuffer : IBufferWriter<byte>, IDisposable
{
    private CommandBuffer()
    {
    }

    /// <summary>The encoded command so far.</summary>
    public ReadOnlyMemory<byte> Written => throw new NotSupportedException();

    /// <summary>Bytes written.</summary>
    public int Length => throw new NotSupportedException();

    /// <summary>An empty buffer from the pool.</summary>
    /// <param name="sizeHint">Bytes the command will probably take.</param>
    public static CommandBuffer Rent(int sizeHint = 1024) => throw new NotSupportedException();

    /// <inheritdoc/>
    public void Advance(int count) => throw new NotSupportedException();

    /// <inheritdoc/>
    public Memory<byte> GetMemory(int sizeHint = 0) => throw new NotSupportedException();

    /// <inheritdoc/>
    public Span<byte> GetSpan(int sizeHint = 0) => throw new NotSupportedException();

    /// <summary>Gives the memory back.</summary>
    public void Dispose() => throw new NotSupportedException();
}
