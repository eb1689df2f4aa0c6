using Rookery.Documents.Apply;
using Rookery.Storage;

namespace Rookery.Documents.Revisions;

/// <summary>The rows of one database that revisions are read from: those of a snapshot, or of a batch.</summary>
internal readonly struct RevisionSource
{
    private readonly WriteBatch? _batch;
    private readonly Snapshot _snapshot;

    /// <summary>Reads from a batch, with its own rows.</summary>
    public RevisionSource(WriteBatch batch, uint database) => (_batch, Database) = (batch, database);

    /// <summary>Reads from a snapshot.</summary>
    public RevisionSource(in Snapshot snapshot, uint database) => (_snapshot, Database) = (snapshot, database);

    /// <summary>The database's number.</summary>
    public uint Database { get; }

    /// <summary>Looks up the row of a revision.</summary>
    /// <exception cref="DamagedException">Its block is damaged.</exception>
    public bool TryGetRevision(ReadOnlySpan<byte> lowerId, long etag, out Row row)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        return TryGet(Key.WriteRevision(key, Database, lowerId, etag), out row);
    }

    /// <summary>Looks up a document.</summary>
    /// <exception cref="DamagedException">Its block is damaged.</exception>
    public bool TryGetDocument(ReadOnlySpan<byte> lowerId, out Row row)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        return TryGet(Key.WriteText(key, Database, Table.Documents, lowerId), out row);
    }

    /// <summary>Reads the state of an id's revisions.</summary>
    /// <exception cref="DamagedException">Its block is damaged.</exception>
    public RevisionState ReadState(ReadOnlySpan<byte> lowerId)
    {
        Span<byte> key = stackalloc byte[Key.MaxBytes];
        if (!TryGet(Key.WriteText(key, Database, Table.RevisionStates, lowerId), out var row))
        {
            return default;
        }

        using (row)
        {
            return RevisionState.Read(row.Value);
        }
    }

    /// <summary>Returns the rows of a document's revisions in a range of etags.</summary>
    /// <param name="lowerId">The document's id.</param>
    /// <param name="from">The first etag.</param>
    /// <param name="toExclusive">The first etag after the range.</param>
    /// <param name="backward">Whether to begin with the newest.</param>
    public RowCursor Seek(ReadOnlySpan<byte> lowerId, long from, long toExclusive, bool backward = false)
    {
        Span<byte> fromKey = stackalloc byte[Key.MaxBytes];
        Span<byte> toKey = stackalloc byte[Key.MaxBytes];
        var first = Key.WriteRevision(fromKey, Database, lowerId, from);
        var after = Key.WriteRevision(toKey, Database, lowerId, toExclusive);
        return _batch is null ? _snapshot.Seek(first, after, backward) : _batch.Seek(first, after, backward);
    }

    private bool TryGet(ReadOnlySpan<byte> key, out Row row) =>
        _batch is null ? _snapshot.TryGet(key, out row) : _batch.TryGet(key, out row);
}
