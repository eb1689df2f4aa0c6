using Rookery.Documents.Apply;
using Rookery.Documents.Changes;
using Rookery.Documents.Stored;
using Rookery.Storage;

namespace Rookery.Documents.Databases;

/// <summary>
/// Iterates over the changes in one reader's snapshot in etag order: each document in its newest state, tombstones and,
/// on request, documents whose counters changed later. The reader must stay open. One thread at a time.
/// </summary>
public sealed class ChangeCursor : IDisposable
{
    // Maximum number of replaced changes that one move passes over, if the cursor includes counters. One counter may
    // leave millions of them, because each increment leaves a small row, and each row costs a look-up.
    private const int MaxPassedRows = 64;

    private readonly DatabaseReader _reader;
    private readonly bool _withCounters;
    private RowCursor? _documents;
    private RowCursor? _tombstones;
    private RowCursor? _counters;
    private Document _document;
    private bool _hasDocument; // whether the cursor of documents is at a row that was not returned yet
    private bool _hasTombstone; // whether the cursor of tombstones is at a row that was not returned yet

    private bool _hasCounter; // whether the cursor of counters is at a row that was not returned yet

    internal ChangeCursor(in DatabaseReader reader, long afterEtag, bool withCounters)
    {
        (_reader, _withCounters) = (reader, withCounters);
        Etag = Math.Max(afterEtag, 0);
    }

    /// <summary>Etag of the current change.</summary>
    public long Etag { get; private set; }

    /// <summary>
    /// Etag of the last operation, of any database, in the snapshot. At its end, the cursor has returned all changes
    /// through this etag.
    /// </summary>
    public long Sequence => _reader.Sequence;

    /// <summary>
    /// Whether the current change is a deletion. Then read <see cref="Tombstone"/>, otherwise <see cref="View"/>.
    /// </summary>
    public bool IsTombstone { get; private set; }

    /// <summary>
    /// Whether the current change is one of a counter's value: <see cref="View"/> is the unchanged document of the
    /// counter. A document is returned once for each of its counters that changed.
    /// </summary>
    public bool IsCounter { get; private set; }

    /// <summary>
    /// Whether the move only passed over changes through <see cref="Etag"/> that later ones replaced. There is no
    /// current change, but more may follow. Never with a cursor that does not include counters.
    /// </summary>
    public bool IsPassed { get; private set; }

    /// <summary>The current document, valid until the next move.</summary>
    public DocumentView View => _document.View;

    /// <summary>The etag of the current document; lower than <see cref="Etag"/> if <see cref="IsCounter"/>.</summary>
    public long DocumentEtag => _document.Etag;

    /// <summary>The current deletion.</summary>
    public Tombstone Tombstone { get; private set; }

    /// <summary>
    /// Moves to the next change. A document that moved to another collection is two changes with the same etag: the
    /// tombstone in the old collection, then the document. A move passes over a bounded number of replaced changes: see
    /// <see cref="IsPassed"/>.
    /// </summary>
    /// <returns>False at the end.</returns>
    /// <exception cref="DamagedException">The rows that follow are damaged.</exception>
    public bool MoveNext()
    {
        if (_documents is null)
        {
            Open();
        }

        for (int passed = 0; ; passed++)
        {
            ReleaseDocument();
            IsCounter = IsTombstone = false;
            IsPassed = _withCounters && passed == MaxPassedRows;
            if (IsPassed)
            {
                return true;
            }

            if (_hasCounter && IsCounterNext())
            {
                Etag = Key.NumberOf(_counters!.Key);
                IsCounter = _reader.TryGetDocumentOfCounter(_counters.Value, Etag, out _document);
                _hasCounter = _counters.MoveNext();
                if (IsCounter)
                {
                    return true;
                }

                continue;
            }

            bool isTombstoneNext =
                _hasTombstone && (!_hasDocument || Key.NumberOf(_tombstones!.Key) <= Key.NumberOf(_documents!.Key));
            if (isTombstoneNext)
            {
                Etag = Key.NumberOf(_tombstones!.Key);
                Tombstone = TombstoneValue.Read(Etag, _tombstones.Value);
                IsTombstone = true;
                _hasTombstone = _tombstones.MoveNext();
                return true;
            }

            if (!_hasDocument)
            {
                return false;
            }

            Etag = Key.NumberOf(_documents!.Key);
            bool isCurrent = _reader.TryGetVersion(_documents.Value, Etag, out _document);
            _hasDocument = _documents.MoveNext();
            if (isCurrent)
            {
                return true;
            }
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        ReleaseDocument();
        _documents?.Dispose();
        _tombstones?.Dispose();
        _counters?.Dispose();
    }

    private bool IsCounterNext()
    {
        long etag = Key.NumberOf(_counters!.Key);
        return (!_hasDocument || etag < Key.NumberOf(_documents!.Key))
            && (!_hasTombstone || etag < Key.NumberOf(_tombstones!.Key));
    }

    private void Open()
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        _documents = _reader.Snapshot.Seek(
            Key.WriteNumber(from, _reader.Database.Number, Table.ByEtag, Etag + 1),
            Key.WritePrefix(to, _reader.Database.Number, Table.ByEtag + 1)
        );
        _tombstones = _reader.Snapshot.Seek(
            Key.WriteNumber(from, _reader.Database.Number, Table.Tombstones, Etag + 1),
            Key.WritePrefix(to, _reader.Database.Number, Table.Tombstones + 1)
        );

        if (_withCounters)
        {
            _counters = _reader.Snapshot.Seek(
                Key.WriteNumber(from, _reader.Database.Number, Table.CountersByEtag, Etag + 1),
                Key.WritePrefix(to, _reader.Database.Number, Table.CountersByEtag + 1)
            );
        }

        // The first move may throw because of damage. All cursors are assigned before it, so Dispose closes them.
        _hasDocument = _documents.MoveNext();
        _hasTombstone = _tombstones.MoveNext();
        _hasCounter = _counters?.MoveNext() == true;
    }

    private void ReleaseDocument()
    {
        _document.Dispose();
        _document = default;
    }
}
