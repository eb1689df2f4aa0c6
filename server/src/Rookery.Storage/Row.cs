using System.Buffers;
using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.Runs;
using Rookery.Storage.State;

namespace Rookery.Storage;

/// <summary>
/// A row that was looked up. Dispose it exactly once. Until then it pins its block in the cache, and its snapshot or
/// batch must stay open.
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

    /// <summary>Etag of the operation that wrote the row.</summary>
    public long Sequence => _node is not null ? _node->Sequence : _run.Sequence;

    /// <summary>Length of the value.</summary>
    public long Length => IsLarge ? new LargeValue(Stored).Length : Stored.Length;

    /// <summary>
    /// Whether the value is stored in chunks. Then read it with <see cref="CopyTo"/>, not with <see cref="Value"/>.
    /// </summary>
    public bool IsLarge => Kind == RowKind.LargeReference;

    /// <summary>The value of a row that is not large; valid until <see cref="Dispose"/>.</summary>
    public ReadOnlySpan<byte> Value
    {
        get
        {
            Invariant.Holds(!IsLarge, "a large value is copied, not referenced");
            return Stored;
        }
    }

    internal RowKind Kind => _node is not null ? _node->Kind : _run.Kind;

    /// <summary>The bytes stored in the row: the value, or the reference to a large value.</summary>
    internal ReadOnlySpan<byte> Stored => _node is not null ? MemtableNode.Value(_node) : _run.Value;

    /// <summary>Copies a part of the value. Chunks of a large value are checked and copied one by one.</summary>
    /// <param name="target">Receives the bytes.</param>
    /// <param name="offset">Offset of the first byte.</param>
    /// <param name="count">Number of bytes; the range must be within <see cref="Length"/>.</param>
    /// <exception cref="DamagedException">A chunk is damaged. <paramref name="target"/> may have received some
    /// bytes.</exception>
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

    /// <summary>Reads and checks all chunks of a large value without keeping them.</summary>
    /// <exception cref="DamagedException">A chunk is damaged.</exception>
    public void ReadThrough()
    {
        if (IsLarge)
        {
            new LargeValue(Stored).ReadThrough(_state, _visibleBatch);
        }
    }

    /// <summary>
    /// Size of the block that the row pins until <see cref="Dispose"/>, in bytes; 0 for a row in a memtable.
    /// </summary>
    public int BlockBytes => _run.BlockBytes;

    /// <summary>Unpins the block.</summary>
    public void Dispose() => _run.Dispose();
}
