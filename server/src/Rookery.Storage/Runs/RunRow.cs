namespace Rookery.Storage.Runs;

/// <summary>Result of a lookup in one run.</summary>
internal enum RunLookup : byte
{
    /// <summary>The run has no row of the key.</summary>
    Absent,

    /// <summary>The run has a row of the key.</summary>
    Found,

    /// <summary>The block that may contain the key is damaged.</summary>
    Damaged,

    /// <summary>The block that may contain the key is not in memory, and the lookup must not read the disk.</summary>
    NotInMemory,
}

/// <summary>
/// A row of a run. It pins its block until disposed; dispose it exactly once, before the reference to the run is
/// released.
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

    /// <summary>Etag of the operation that wrote the row.</summary>
    public long Sequence { get; }

    /// <summary>Kind of the row.</summary>
    public RowKind Kind { get; }

    /// <summary>The value; valid until <see cref="Dispose"/>.</summary>
    public ReadOnlySpan<byte> Value => new(_value, _valueLength);

    /// <summary>Memory of the row's block in bytes; 0 for the default value.</summary>
    public int BlockBytes => _block?.MemoryBytes ?? 0;

    /// <summary>Unpins the block; does nothing for the default value.</summary>
    public void Dispose() => _block?.Unpin();
}
