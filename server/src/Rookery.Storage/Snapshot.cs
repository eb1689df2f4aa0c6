using Rookery.Storage.Memory;
using Rookery.Storage.State;

namespace Rookery.Storage;

/// <summary>
/// Everything that was applied when it was opened, and nothing later. Opening and reading neither lock nor allocate.
/// Keeps memory and files alive until disposed: dispose exactly once. How much all together may keep is bounded: long
/// walks ask <see cref="ThrowIfEnded"/>. Any number of threads may read through one.
/// </summary>
public readonly struct Snapshot : IDisposable, IEquatable<Snapshot>
{
    private readonly EngineState _state;

    internal Snapshot(EngineState state)
    {
        _state = state;
    }

    /// <summary>The last operation number (etag) in it.</summary>
    public long Sequence => _state.Position.Sequence;

    /// <summary>The journal index of the last batch in it.</summary>
    public long AppliedIndex => _state.Position.Index;

    /// <summary>
    /// Cancelled when it has to be given up: it keeps more from being given back than readers may. Whoever waits while
    /// holding it listens.
    /// </summary>
    public CancellationToken Ended => _state.Ended;

    /// <summary>
    /// Stops a long read that has to be given up. Asked between rows; what is being read stays readable.
    /// </summary>
    /// <exception cref="SnapshotEndedException">It keeps more from being given back than readers may.</exception>
    public void ThrowIfEnded()
    {
        if (_state.IsEnded)
        {
            throw new SnapshotEndedException();
        }
    }

    /// <summary>Looks a key up.</summary>
    /// <param name="key">The whole key: database number, table, user key.</param>
    /// <param name="row">The row, to be disposed, when there is one.</param>
    /// <exception cref="DamagedException">The place that would hold it cannot be trusted.</exception>
    public bool TryGet(ReadOnlySpan<byte> key, out Row row) =>
        Lookup.TryGet(_state, _state.VisibleBatch, _state.RangeTombstones, key, out row);

    /// <summary>
    /// Brings what a batch to come will look up into memory: reads the block that holds the key's newest version,
    /// unless a memtable has it. A key that is surely in no run, or whose block is in memory, costs no read.
    /// </summary>
    /// <param name="key">The whole key.</param>
    /// <param name="row">When there is one: the version, perhaps a deletion. Its block stays in memory until it is
    /// disposed.</param>
    /// <returns>Whether a run has the newest version of the key.</returns>
    /// <exception cref="DamagedException">The place that would hold it cannot be trusted: the batch would meet that
    /// too.</exception>
    public bool TryLoadAhead(ReadOnlySpan<byte> key, out Row row) => Lookup.TryGetAhead(_state, key, out row);

    /// <summary>
    /// Looks for known damage where rows of a range may lie, for a batch to come whose keys are not known yet. Reads
    /// nothing from disk; a range without any costs nothing.
    /// </summary>
    /// <param name="from">The first key.</param>
    /// <param name="toExclusive">The first key after the range; of a table of the same group.</param>
    /// <exception cref="DamagedException">A run that may hold such rows cannot be read, or a part of it that may hold
    /// them was found damaged.</exception>
    public void ThrowIfDamaged(ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive)
    {
        if (
            !_state.Sources.Damage.IsEmpty
            && _state.Sources.Damage.Find(
                _state.Sources.Tables.NamesOf(_state.Sources.Tables.GroupOf(from[MemtableNode.KeyspaceBytes - 1])),
                from,
                toExclusive
            )
                is { } found
        )
        {
            throw new DamagedException(found);
        }
    }

    /// <summary>
    /// Walks the rows of a range in key order, or downwards from its end. The snapshot must stay open meanwhile.
    /// </summary>
    /// <param name="from">The first key.</param>
    /// <param name="toExclusive">The first key after the range; empty for no bound.</param>
    /// <param name="backward">Whether to begin with the highest key.</param>
    public RowCursor Seek(ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive, bool backward = false) =>
        new(_state, _state.VisibleBatch, _state.RangeTombstones, from, toExclusive, backward);

    /// <summary>
    /// Walks the rows of a range in key order and goes past what cannot be read: of a damaged stretch, those rows are
    /// shown that <see cref="TryGet"/> would find.
    /// </summary>
    /// <param name="from">The first key.</param>
    /// <param name="toExclusive">The first key after the range; empty for no bound.</param>
    /// <param name="passedOver">Told of each damaged stretch when the walk reaches it; perhaps more than once of the
    /// same.</param>
    /// <param name="mayBeOld">Whether rows are shown too that the damaged part may have replaced or deleted.</param>
    public RowCursor SeekReadable(
        ReadOnlySpan<byte> from,
        ReadOnlySpan<byte> toExclusive,
        Action<DamageEvent> passedOver,
        bool mayBeOld = false
    ) =>
        new(
            _state,
            _state.VisibleBatch,
            _state.RangeTombstones,
            from,
            toExclusive,
            backward: false,
            new ReadableCursor(_state, _state.VisibleBatch, toExclusive, passedOver, mayBeOld)
        );

    /// <summary>Lets go of the state.</summary>
    public void Dispose() => _state.Release();

    /// <summary>Whether both see the same state.</summary>
    public bool Equals(Snapshot other) => ReferenceEquals(_state, other._state);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is Snapshot other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => _state.GetHashCode();

    /// <summary>Whether both see the same state.</summary>
    public static bool operator ==(Snapshot left, Snapshot right) => left.Equals(right);

    /// <summary>Whether they see different states.</summary>
    public static bool operator !=(Snapshot left, Snapshot right) => !left.Equals(right);
}
