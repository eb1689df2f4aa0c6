using System.Buffers;
using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Revisions;

/// <summary>
/// Iterates over the revisions of a database in the order of their etags, each with the revision before it, in the form
/// of a document <c>{"Current":{…},"Previous":{…}}</c>. A deletion, and the revision before the first one, are null.
/// The reader must stay open. One thread at a time.
/// </summary>
public sealed class RevisionPairs : IDisposable
{
    private readonly RevisionReader _revisions;
    private readonly RowCursor _rows; // the revisions that have rows
    private readonly RowCursor _documents; // those that are documents, also expired ones
    private readonly byte[]? _lowerCollection;
    private readonly byte[] _historyId;
    private CommandBuffer? _pair;
    private bool _hasPrevious;
    private long _nextRow;
    private long _nextDocument;

    /// <summary>Begins to read in a snapshot.</summary>
    /// <param name="reader">The snapshot.</param>
    /// <param name="collection">The collection of the revisions, in any casing; null for all.</param>
    /// <param name="afterEtag">The etag after which to begin.</param>
    public RevisionPairs(in DatabaseReader reader, string? collection, long afterEtag)
    {
        if (collection is not null)
        {
            byte[] name = Encoding.UTF8.GetBytes(collection);
            _lowerCollection = new byte[Math.Max(name.Length, Key.EmptyCollection.Length)];
            // A longer name matches no collection. Neither does the empty text, because no lower-cased name is empty.
            _lowerCollection =
                name.Length > DocumentLimits.MaxCollectionBytes
                    ? []
                    : _lowerCollection[..Key.LowerCollection(name, _lowerCollection)];
        }

        _historyId = Encoding.ASCII.GetBytes(reader.Database.HistoryId);
        _revisions = new RevisionReader(reader);
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        uint database = reader.Database.Number;
        long first = Math.Max(afterEtag, 0) + 1;
        _rows = reader.Snapshot.Seek(
            Key.WriteNumber(from, database, Table.RevisionsByEtag, first),
            Key.WritePrefix(to, database, Table.RevisionsByEtag + 1)
        );
        _documents = _lowerCollection is null
            ? reader.Snapshot.Seek(
                Key.WriteNumber(from, database, Table.ByEtag, first),
                Key.WritePrefix(to, database, Table.ByEtag + 1)
            )
            : reader.Snapshot.Seek(
                Key.WriteCollection(from, database, _lowerCollection, first),
                Key.WriteCollection(to, database, _lowerCollection, long.MaxValue)
            );
        MoveRows();
        MoveDocuments();
    }

    /// <summary>Etag of the current revision, or of a version that is none (<see cref="TryRead"/>).</summary>
    public long Etag { get; private set; }

    /// <summary>
    /// Length as stored, in bytes: of the current revision after <see cref="TryRead"/>, of both after
    /// <see cref="ReadPrevious"/>.
    /// </summary>
    public long Length { get; private set; }

    /// <summary>Moves to the next version that may be a revision; false at the end.</summary>
    public bool MoveNext()
    {
        Etag = Math.Min(_nextRow, _nextDocument);
        if (Etag == long.MaxValue)
        {
            return false;
        }

        if (_nextRow == Etag)
        {
            MoveRows();
        }

        if (_nextDocument == Etag)
        {
            MoveDocuments();
        }

        return true;
    }

    /// <summary>Reads the current revision; false if the version is none, or belongs to another collection.</summary>
    public bool TryRead()
    {
        if (!_revisions.TryFind(Etag))
        {
            return false;
        }

        Length = _revisions.Length;
        Span<byte> lower = stackalloc byte[Key.MaxBytes];
        return _lowerCollection is null
            || lower[..Key.LowerCollection(_revisions.View.Collection, lower)].SequenceEqual(_lowerCollection);
    }

    /// <summary>Reads the revision before the current one. Call it once after <see cref="TryRead"/>.</summary>
    public void ReadPrevious()
    {
        _pair?.Dispose();
        _pair = CommandBuffer.Rent();
        var revision = _revisions.View;
        _pair.Advance(
            StoredDocument.WriteHead(
                _pair.GetSpan(StoredDocument.MaxHeadBytes),
                revision.Id,
                revision.LastModifiedTicks,
                expiresAtTicks: 0
            )
        );
        var span = _pair.GetSpan(DocumentLimits.MaxCollectionBytes + (2 * Varint.MaxBytes32));
        int written = Varint.WriteBytes(span, revision.Collection);
        _pair.Advance(written + Varint.WriteBytes(span[written..], default)); // no metadata of a user
        _pair.Write("\"Current\":"u8);
        WriteRevision();
        _hasPrevious = _revisions.MoveNext();
        Length += _hasPrevious ? _revisions.Length : 0;
    }

    /// <summary>
    /// Returns both revisions as one document, valid until the next call. Call it once after
    /// <see cref="ReadPrevious"/>.
    /// </summary>
    public DocumentView ReadPair()
    {
        var pair = _pair!;
        pair.Write(",\"Previous\":"u8);
        if (_hasPrevious)
        {
            WriteRevision();
        }
        else
        {
            pair.Write("null"u8);
        }

        return new DocumentView(pair.Written.Span);
    }

    /// <summary>Writes the pair in its form for clients, with the metadata of the current revision.</summary>
    public void Write(IBufferWriter<byte> output, ReadOnlySpan<byte> historyId) =>
        DocumentWriter.Write(output, new DocumentView(_pair!.Written.Span), Etag, historyId);

    /// <inheritdoc/>
    public void Dispose()
    {
        _pair?.Dispose();
        _documents.Dispose();
        _rows.Dispose();
        _revisions.Dispose();
    }

    private void WriteRevision()
    {
        if (_revisions.IsDeletion)
        {
            _pair!.Write("null"u8);
        }
        else
        {
            _revisions.Write(_pair!, metadataOnly: false, _historyId);
        }
    }

    private void MoveRows() => _nextRow = _rows.MoveNext() ? Key.LastNumberOf(_rows.Key) : long.MaxValue;

    private void MoveDocuments() =>
        _nextDocument = _documents.MoveNext() ? Key.LastNumberOf(_documents.Key) : long.MaxValue;
}
