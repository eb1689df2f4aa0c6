using System.Buffers;
using Rookery.Documents.Consensus;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>
/// Pooled memory with one encoded command. It has one owner at a time, which must dispose it exactly once. Proposing
/// the command transfers the ownership.
/// </summary>
public sealed class CommandBuffer : IBufferWriter<byte>, IDisposable
{
    /// <summary>Memory that an idle buffer keeps; larger memory returns to its pool.</summary>
    private const int IdleBytes = 4096;

    private static readonly CommandBuffer?[] Idle = new CommandBuffer?[64];

    private PooledMemory _memory;
    private bool _isRented;

    private CommandBuffer() { }

    /// <summary>The encoded command so far.</summary>
    public ReadOnlyMemory<byte> Written => _memory.Memory[..Length];

    /// <summary>
    /// Whether the outcome must contain the members that synced the command (<see cref="CommandOutcome.Receipt"/>).
    /// </summary>
    public bool WantsReceipt { get; set; }

    /// <summary>
    /// Term of the leader to which a follower sent the command. Only that leader may propose it. 0 for a command from a
    /// client of this node.
    /// </summary>
    public long LeaderTerm { get; set; }

    /// <summary>Bytes written.</summary>
    public int Length { get; private set; }

    /// <summary>The encoded command so far, writable to overwrite earlier bytes.</summary>
    internal Span<byte> WrittenSpan => _memory.Span[..Length];

    /// <summary>Returns an empty buffer from the pool.</summary>
    /// <param name="sizeHint">Expected length of the command in bytes.</param>
    public static CommandBuffer Rent(int sizeHint = 1024)
    {
        CommandBuffer? buffer = null;
        for (int slot = 0; slot < Idle.Length && buffer is null; slot++)
        {
            if (Idle[slot] is not null)
            {
                buffer = Interlocked.Exchange(ref Idle[slot], null);
            }
        }

        buffer ??= new CommandBuffer();
        buffer._isRented = true;
        buffer.GetSpan(sizeHint);
        return buffer;
    }

    /// <inheritdoc/>
    public void Advance(int count)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)count, (uint)(_memory.Length - Length));
        Length += count;
    }

    /// <inheritdoc/>
    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return _memory.Memory[Length..];
    }

    /// <inheritdoc/>
    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Reserve(sizeHint);
        return _memory.Span[Length..];
    }

    /// <summary>Returns the buffer to the pool.</summary>
    public void Dispose()
    {
        Invariant.Holds(_isRented, "a command buffer is disposed once, by its owner");
        _isRented = false;
        Length = 0;
        WantsReceipt = false;
        LeaderTerm = 0;
        if (_memory.Length > IdleBytes)
        {
            _memory.Return();
        }

        for (int slot = 0; slot < Idle.Length; slot++)
        {
            if (Idle[slot] is null && Interlocked.CompareExchange(ref Idle[slot], this, null) is null)
            {
                return;
            }
        }
    }

    private void Reserve(int count)
    {
        Invariant.Holds(_isRented, "a command buffer is used only by its owner");
        count = Math.Max(count, 1);
        if (_memory.Length - Length < count)
        {
            _memory.Grow(Length, Math.Max(256, Math.Max(Length + count, Length * 2)));
        }
    }
}
