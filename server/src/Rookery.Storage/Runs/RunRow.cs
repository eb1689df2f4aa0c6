namespace Rookery.Storage.Runs;

/// <summary>What a look into one run found.</summary>
internal enum RunLookup : byte
{
    /// <summary>The run has no row of this key. Its range tombstones may still cover it.</summary>
    Absent,

    /// <summary>There is a row.</summary>
    Found,

    /// <summary>The block that would hold it cannot be trusted: the answer is unknown.</summary>
    Damaged,
}

/// <summary>
/// A row of a run. Keeps its block in memory until disposed; dispose exactly once, and before the reference to the run
/// goes.
/// </summary>
internal readonly unsafe struct RunRow : IDisposable
{
    private readonly CachedBlock? _block;
    private readonly byte* _value;
    private readonly int _valueLength;

    internal RunRow(CachedBlock block, in BlockRow row)
    {
        _block = block;
        _value = row.ValueAddress;
        _valueLength = row.ValueLength;
        Sequence = row.Sequence;
        Kind = row.Kind;
    }

    /// <summary>The etag of the operation that wrote it.</summary>
    public long Sequence { get; }

    /// <summary>What it says.</summary>
    public RowKind Kind { get; }

    /// <summary>The value, in memory that is valid until <see cref="Dispose"/>.</summary>
    public ReadOnlySpan<byte> Value => new(_value, _valueLength);

    /// <summary>Memory of its block in bytes; 0 for a default value.</summary>
    public int BlockBytes => _block?.MemoryBytes ?? 0;

    /// <summary>Lets go of the block. Nothing happens for a default value.</summary>
    public void Dispose() => _block?.Unpin();
}
