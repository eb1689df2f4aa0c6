using Rookery.Platform;
using Rookery.Storage.Memory;
using Rookery.Storage.State;

namespace Rookery.Storage;

/// <summary>
/// The rows as of one applied log entry, for readers. Opening and reading neither lock nor allocate. Dispose it exactly
/// once; until then it keeps memtables and run files alive. If all snapshots together keep too much, the oldest are
/// ended: long reads must call <see cref="ThrowIfEnded"/>. Thread-safe.
/// </summary>
public readonly struct Snapshot : IDisposable, IEquatable<Snapshot>
{
    private readonly EngineState _state;
    private readonly bool _isOfBackground;

    /// <summary>Takes over a reference to a state.</summary>
    /// <param name="state">The state.</param>
    /// <param name="isOfBackground">Whether background work holds it; such snapshots are ended before those of
    /// clients.</param>
    internal Snapshot(EngineState state, bool isOfBackground = false) =>
        (_state, _isOfBackground) = (state, isOfBackground);

    /// <summary>The last operation number (etag) in the snapshot.</summary>
    public long Sequence => _state.Position.Sequence;

    /// <summary>Log index of the last batch in the snapshot.</summary>
    public long AppliedIndex => _state.Position.Index;

    /// <summary>
    /// Cancelled when the snapshot must be disposed, because readers keep too much memory or too many files alive. Pass
    /// it to every wait while the snapshot is open. A snapshot of background work has no such token: it polls
    /// <see cref="IsEnded"/>.
    /// </summary>
    public CancellationToken Ended => _isOfBackground ? CancellationToken.None : _state.Ended;

    /// <summary>Whether the snapshot must be disposed.</summary>
    public bool IsEnded => _isOfBackground ? _state.IsEndedInBackground : _state.IsEnded;

    /// <summary>
    /// Throws if the snapshot must be disposed. Call it between rows; the current row stays readable.
    /// </summary>
    /// <exception cref="SnapshotEndedException">Readers keep too much memory or too many files alive.</exception>
    public void ThrowIfEnded()
    {
        if (IsEnded)
        {
            throw new SnapshotEndedException();
        }
    }

    /// <summary>Looks up a key.</summary>
    /// <param name="key">The key: database number, table, user key.</param>
    /// <param name="row">The row, if there is one; the caller disposes it.</param>
    /// <exception cref="DamagedException">The block that may contain the key is damaged.</exception>
    public bool TryGet(ReadOnlySpan<byte> key, out Row row) =>
        Lookup.TryGet(_state, _state.VisibleBatch, _state.RangeTombstones, key, out row);

    /// <summary>Looks up a key, optionally without reading the disk.</summary>
    /// <param name="key">The key: database number, table, user key.</param>
    /// <param name="mayReadDisk">Whether the lookup may read the disk.</param>
    /// <param name="row">The row, if it was found; the caller disposes it. The chunks of a large value need not be in
    /// memory.</param>
    /// <exception cref="DamagedException">The block that may contain the key is damaged.</exception>
    public RowLookup Find(ReadOnlySpan<byte> key, bool mayReadDisk, out Row row) =>
        Lookup.Find(_state, _state.VisibleBatch, _state.RangeTombstones, key, mayReadDisk, out row);

    /// <summary>
    /// Loads the block with a key's newest version into memory, so that a later batch need not read it from disk. Reads
    /// nothing if a memtable has that version, if the Bloom filters exclude the key, or if the block is in memory.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="row">The version in a run, which may be a deletion. It pins its block until disposed.</param>
    /// <returns>Whether a run contains the key's newest version.</returns>
    /// <exception cref="DamagedException">The block that may contain the key is damaged, so the batch would fail
    /// too.</exception>
    public bool TryLoadAhead(ReadOnlySpan<byte> key, out Row row) => Lookup.TryGetAhead(_state, key, out row);

    /// <summary>
    /// Throws if known damage may affect rows of a range. A batch whose keys are not known yet checks its range this
    /// way before it is written. Reads nothing from disk.
    /// </summary>
    /// <param name="from">The first key.</param>
    /// <param name="toExclusive">The first key after the range; its table must be in the same group.</param>
    /// <exception cref="DamagedException">A damaged run, or damaged part of a run, may contain such rows.</exception>
    public void ThrowIfDamaged(ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive)
    {
        if (_state.Sources.Damage.IsEmpty)
        {
            return;
        }

        byte table = from[MemtableNode.KeyspaceBytes - 1];
        byte group = _state.Sources.Tables.GroupOf(table);
        if (_state.Sources.Damage.Find(_state.Sources.Tables.NamesOf(group), from, toExclusive) is { } damage)
        {
            throw new DamagedException(damage);
        }
    }

    /// <summary>
    /// Returns a cursor over the rows of a range in key order, or in reverse. The snapshot must stay open.
    /// </summary>
    /// <param name="from">The first key.</param>
    /// <param name="toExclusive">The first key after the range; empty for no bound.</param>
    /// <param name="backward">Whether to start with the highest key.</param>
    public RowCursor Seek(ReadOnlySpan<byte> from, ReadOnlySpan<byte> toExclusive, bool backward = false) =>
        new(_state, _state.VisibleBatch, _state.RangeTombstones, from, toExclusive, backward);

    /// <summary>
    /// Returns a cursor over the rows of a range in key order that skips damage. Within a damaged range it returns the
    /// rows that <see cref="TryGet"/> would find.
    /// </summary>
    /// <param name="from">The first key.</param>
    /// <param name="toExclusive">The first key after the range; empty for no bound.</param>
    /// <param name="damageSkipped">Called for each damaged range when the cursor reaches it, possibly more than
    /// once.</param>
    /// <param name="mayBeOld">Whether to also return rows that the damaged part may have replaced or deleted.</param>
    public RowCursor SeekReadable(
        ReadOnlySpan<byte> from,
        ReadOnlySpan<byte> toExclusive,
        Action<DamageEvent> damageSkipped,
        bool mayBeOld = false
    ) =>
        new(
            _state,
            _state.VisibleBatch,
            _state.RangeTombstones,
            from,
            toExclusive,
            backward: false,
            new ReadableCursor(_state, _state.VisibleBatch, toExclusive, damageSkipped, mayBeOld)
        );

    /// <summary>
    /// Returns another snapshot of the same state, for a client, to be disposed on its own. This one must stay open
    /// during the call.
    /// </summary>
    public Snapshot Share()
    {
        Invariant.Holds(_state.TryAcquire(), "a snapshot is shared while it is open");
        return new Snapshot(_state);
    }

    /// <summary>Releases the state.</summary>
    public void Dispose() => _state.Release(_isOfBackground);

    /// <summary>Returns whether both refer to the same state.</summary>
    public bool Equals(Snapshot other) => ReferenceEquals(_state, other._state);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is Snapshot other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => _state.GetHashCode();

    /// <summary>Returns whether both refer to the same state.</summary>
    public static bool operator ==(Snapshot left, Snapshot right) => left.Equals(right);

    /// <summary>Returns whether they refer to different states.</summary>
    public static bool operator !=(Snapshot left, Snapshot right) => !left.Equals(right);
}
