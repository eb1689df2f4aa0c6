using Rookery.Documents.Apply;
using Rookery.Documents.Json;
using Rookery.Storage;

namespace Rookery.Documents;

/// <summary>Walks over changes in etag order: stored documents, each in its newest state, and tombstones. Re-opens its snapshot like <see cref="DocumentCursor"/>. One thread at a time.</summary>
public sealed class ChangeCursor : IDisposable
{
    private readonly Database _database;
    private DatabaseReader _reader;
    private RowCursor? _documents;
    private RowCursor? _tombstones;
    private Document _document;
    private bool _documentWaits;
    private bool _tombstoneWaits;
    private bool _isOpen;
    private int _rowsLeft;

    internal ChangeCursor(Database database, long afterEtag)
    {
        _database = database;
        Etag = Math.Max(afterEtag, 0);
    }

    /// <summary>The etag of the change at hand.</summary>
    public long Etag { get; private set; }

    /// <summary>The etag of the last operation, of any database, that the walk can see now. When it is at its end, it went over everything through this etag.</summary>
    public long Sequence => _isOpen ? _reader.Sequence : Etag;

    /// <summary>Whether the change at hand is a deletion; then <see cref="Tombstone"/> holds it, otherwise <see cref="View"/>.</summary>
    public bool IsTombstone { get; private set; }

    /// <summary>The stored document, valid until the next move.</summary>
    public DocumentView View => _document.View;

    /// <summary>The deletion.</summary>
    public Tombstone Tombstone { get; private set; }

    /// <summary>Goes to the next change. A document that moved between collections is two: first the tombstone of the old one, then the document, with one etag.</summary>
    /// <returns>False at the end.</returns>
    /// <exception cref="DamagedException">What would come next cannot be trusted.</exception>
    public bool MoveNext()
    {
        while (true)
        {
            ReleaseDocument();

            if (_rowsLeft <= 0)
            {
                Pause();
            }

            if (!_isOpen)
            {
                Open();
            }

            _rowsLeft--;
            if (_tombstoneWaits && (!_documentWaits || Key.NumberOf(_tombstones!.Key) <= Key.NumberOf(_documents!.Key)))
            {
                Etag = Key.NumberOf(_tombstones!.Key);
                Tombstone = TombstoneValue.Read(Etag, _tombstones.Value);
                IsTombstone = true;
                _tombstoneWaits = _tombstones.MoveNext();
                return true;
            }

            if (!_documentWaits)
            {
                return false;
            }

            Etag = Key.NumberOf(_documents!.Key);
            bool isCurrent = _reader.TryGetVersion(_documents.Value, Etag, out _document);
            _documentWaits = _documents.MoveNext();
            if (isCurrent)
            {
                IsTombstone = false;
                return true;
            }
        }
    }

    /// <summary>Lets go of the snapshot and of the change at hand until the next move, while a slow client is waited for.</summary>
    public void Pause()
    {
        ReleaseDocument();

        // Only between etags, because a moved document has two changes with one.
        if (_isOpen && !(_documentWaits && Key.NumberOf(_documents!.Key) == Etag))
        {
            Close();
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        ReleaseDocument();
        Close();
    }

    private void Open()
    {
        _reader = _database.OpenReader();
        _isOpen = true;
        _rowsLeft = DocumentCursor.DocumentsPerSnapshot;
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        _documents = _reader.Snapshot.Seek(
            Key.Number(from, _database.Number, Table.ByEtag, Etag + 1), Key.Prefix(to, _database.Number, Table.ByEtag + 1));
        _tombstones = _reader.Snapshot.Seek(
            Key.Number(from, _database.Number, Table.Tombstones, Etag + 1), Key.Prefix(to, _database.Number, Table.Tombstones + 1));

        // The first rows may be damaged: by now everything is in place to be closed.
        _documentWaits = _documents.MoveNext();
        _tombstoneWaits = _tombstones.MoveNext();
    }

    private void ReleaseDocument()
    {
        _document.Dispose();
        _document = default;
    }

    private void Close()
    {
        if (_isOpen)
        {
            _isOpen = false;
            _documents!.Dispose();
            _tombstones!.Dispose();
            _reader.Dispose();
        }
    }
}
