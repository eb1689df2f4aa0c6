using System.Buffers;
using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage;

/// <summary>
/// A row that was looked up. Keeps its block in memory until disposed (exactly once); its snapshot or batch must stay
/// open as long.
/// </summary>
public readonly unsafe struct Row : IDisposable
{
    private readonly EngineState _state;
    private readonly MemtableNode* _node;
    private readonly RunRow _run;
    private readonly int _visibleBatch;

    internal Row(EngineState state, int visibleBatch, MemtableNode* node)
    {
        _state = state;
        _visibleBatch = visibleBatch;
        _node = node;
    }

    internal Row(EngineState state, int visibleBatch, RunRow run)
    {
        _state = state;
        _visibleBatch = visibleBatch;
        _run = run;
    }

    /// <summary>The etag of the operation that wrote it.</summary>
    public long Sequence => _node is not null ? _node->Sequence : _run.Sequence;

    /// <summary>Bytes of its value.</summary>
    public long Length => IsLarge ? new LargeValue(Stored).Length : Stored.Length;

    /// <summary>
    /// Whether the value lies in chunks: then it is read with <see cref="CopyTo"/> and <see cref="Value"/> is not to be
    /// used.
    /// </summary>
    public bool IsLarge => Kind == RowKind.LargeReference;

    /// <summary>The whole value of a row that is not large, in place: valid until <see cref="Dispose"/>.</summary>
    public ReadOnlySpan<byte> Value
    {
        get
        {
            Invariant.Holds(!IsLarge, "a large value is copied, not referenced");
            return Stored;
        }
    }

    internal RowKind Kind => _node is not null ? _node->Kind : _run.Kind;

    /// <summary>What the row itself stores: the value, or the reference to a large one.</summary>
    internal ReadOnlySpan<byte> Stored => _node is not null ? MemtableNode.Value(_node) : _run.Value;

    /// <summary>Copies a part of the value, large or not, chunk by chunk, each checked.</summary>
    /// <param name="target">Where to.</param>
    /// <param name="offset">The first byte.</param>
    /// <param name="count">How many; offset and count lie within <see cref="Length"/>.</param>
    /// <exception cref="DamagedException">A chunk cannot be trusted. Some bytes may have been written to
    /// <paramref name="target"/>.</exception>
    public void CopyTo(IBufferWriter<byte> target, long offset, long count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(offset);
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(offset + count, Length);
        if (IsLarge)
        {
            new LargeValue(Stored).CopyTo(_state, _visibleBatch, target, offset, count);
        }
        else
        {
            target.Write(Stored.Slice((int)offset, (int)count));
        }
    }

    /// <summary>
    /// Reads a large value, chunk by chunk, each checked, and keeps nothing of it: afterwards it is known to be
    /// readable.
    /// </summary>
    /// <exception cref="DamagedException">A chunk cannot be trusted.</exception>
    public void ReadThrough()
    {
        if (IsLarge)
        {
            new LargeValue(Stored).ReadThrough(_state, _visibleBatch);
        }
    }

    /// <summary>
    /// Memory that stays in use until <see cref="Dispose"/>, in bytes: that of its block, 0 for a row of a memtable.
    /// </summary>
    public int BlockBytes => _run.BlockBytes;

    /// <summary>Lets go of the block.</summary>
    public void Dispose() => _run.Dispose();
}
