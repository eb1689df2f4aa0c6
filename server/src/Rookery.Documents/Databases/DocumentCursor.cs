using System.Buffers;
using Rookery.Documents.Apply;
using Rookery.Documents.Ids;
using Rookery.Documents.Json;
using Rookery.Storage;

namespace Rookery.Documents;

/// <summary>
/// Walks over documents. It re-opens its snapshot after every <see cref="DocumentsPerSnapshot"/> rows, so that a slow reader keeps neither memory nor files
/// alive: a document is seen as it is when the walk reaches it, and one that is written meanwhile moves to the end of an etag order.
/// One thread at a time.
/// </summary>
public sealed class DocumentCursor : IDisposable
{
    /// <summary>Rows read before the snapshot is re-opened.</summary>
    public const int DocumentsPerSnapshot = 1024;

    private readonly Database _database;
    private readonly bool _isIndirect;
    private readonly bool _backward;

    // The rest of the walk: [_from, _to).
    private readonly byte[] _from;
    private readonly byte[] _to;
    private int _fromLength;
    private int _toLength;
    private DatabaseReader _reader;
    private RowCursor? _rows;
    private int _rowsLeft;
    private Document _document;
    private LargeDocument? _large;
    private bool _isOpen;
    private bool _isAtRow;

    private DocumentCursor(Database database, ReadOnlySpan<byte> from, ReadOnlySpan<byte> to, bool isIndirect, bool backward)
    {
        _database = database;
        _isIndirect = isIndirect;
        _backward = backward;
        _from = new byte[Key.MaxBytes + 1];
        _to = new byte[Key.MaxBytes + 1];
        from.CopyTo(_from);
        to.CopyTo(_to);
        _fromLength = from.Length;
        _toLength = to.Length;
    }

    /// <summary>Told of each damaged stretch that is gone past, perhaps more than once; null: damage ends the walk. Only in the order of ids.</summary>
    private Action<DamageEvent>? DamagePassedOver { get; init; }

    /// <summary>The etag of the document at hand.</summary>
    public long Etag { get; private set; }

    /// <summary>Bytes that the document at hand is stored in, before compression.</summary>
    public long Length => _isIndirect ? _document.Length : _rows!.Length;

    /// <summary>The document at hand, valid until the next move. A large one is put together for it, in as much memory again.</summary>
    public DocumentView View => _isIndirect ? _document.View : new DocumentView(_large is null ? _rows!.Value : _large.Whole);

    /// <summary>The same without the body of a large document, which costs little.</summary>
    public DocumentView Head => _isIndirect ? _document.Head : new DocumentView(_large is null ? _rows!.Value : _large.Head);

    internal static DocumentCursor ById(Database database, ReadOnlySpan<byte> prefix, ReadOnlySpan<byte> startAfter, Action<DamageEvent>? damagePassedOver = null)
    {
        Span<byte> lower = stackalloc byte[2 * DocumentId.MaxBytes];
        Span<byte> from = stackalloc byte[Key.PrefixBytes + (2 * DocumentId.MaxBytes)];
        Span<byte> to = stackalloc byte[Key.PrefixBytes + (2 * DocumentId.MaxBytes)];
        Span<byte> last = stackalloc byte[Key.PrefixBytes + (2 * DocumentId.MaxBytes) + 1];
        var first = Key.Text(from, database.Number, Table.Documents, Lower(prefix, lower));
        var after = Key.After(to, first);
        var lastSeen = Key.Text(last, database.Number, Table.Documents, Lower(startAfter, lower));
        if (!startAfter.IsEmpty && lastSeen.SequenceCompareTo(first) >= 0)
        {
            last[lastSeen.Length] = 0; // the smallest key after it
            first = last[..(lastSeen.Length + 1)];
        }

        return new DocumentCursor(database, first, after, isIndirect: false, backward: false) { DamagePassedOver = damagePassedOver };
    }

    internal static DocumentCursor ByEtag(Database database, long afterEtag, bool backward)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        return new DocumentCursor(
            database,
            Key.Number(from, database.Number, Table.ByEtag, Math.Max(afterEtag, 0) + 1),
            Key.Prefix(to, database.Number, Table.ByEtag + 1),
            isIndirect: true,
            backward);
    }

    internal static DocumentCursor ByCollection(Database database, ReadOnlySpan<byte> collection, long afterEtag)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        collection = collection.Length > DocumentLimits.MaxCollectionBytes ? collection[..DocumentLimits.MaxCollectionBytes] : collection;
        return new DocumentCursor(
            database,
            Key.Collection(from, database.Number, collection, Math.Max(afterEtag, 0) + 1),
            Key.Collection(to, database.Number, collection, long.MaxValue),
            isIndirect: true,
            backward: false);
    }

    /// <summary>Goes to the next document.</summary>
    /// <returns>False at the end.</returns>
    /// <exception cref="DamagedException">What would come next cannot be trusted.</exception>
    public bool MoveNext()
    {
        while (NextRow())
        {
            if (!_isIndirect)
            {
                Etag = _rows!.Sequence;
                _large = _rows.IsLarge ? new LargeDocument(_rows.Length, _rows.CopyTo) : null;
                if (IsWhole())
                {
                    return true;
                }

                continue;
            }

            long etag = Key.LastNumberOf(_rows!.Key);
            if (_reader.TryGetVersion(_rows.Value, etag, out _document))
            {
                Etag = etag;
                return true;
            }
        }

        return false;
    }

    /// <summary>Goes past <paramref name="count"/> documents.</summary>
    /// <returns>How many it went past; fewer than asked at the end.</returns>
    public long Skip(long count)
    {
        long skipped = 0;
        while (skipped < count && (_isIndirect ? MoveNext() : NextRow()))
        {
            skipped++;
        }

        return skipped;
    }

    /// <summary>Writes the document at hand as clients read it. The body of a large one goes chunk by chunk to the output, each checked.</summary>
    /// <param name="output">Where to.</param>
    /// <param name="historyId">The database's history id, 22 ASCII characters.</param>
    public void Write(IBufferWriter<byte> output, ReadOnlySpan<byte> historyId)
    {
        if (_isIndirect)
        {
            _document.Write(output, historyId);
        }
        else if (_large is null)
        {
            DocumentWriter.Write(output, View, Etag, historyId);
        }
        else
        {
            DocumentWriter.Write(output, Length, _large, Etag, historyId);
        }
    }

    /// <summary>Lets go of the snapshot and of the document at hand, which the next move meets again.</summary>
    public void StepBack()
    {
        RememberAt(_rows!.Key);
        Close();
    }

    /// <summary>Lets go of the snapshot and of the document at hand until the next move, while a slow client is waited for.</summary>
    public void Pause()
    {
        if (_isOpen && _isAtRow)
        {
            Remember(_rows!.Key);
            Close();
        }
    }

    /// <inheritdoc/>
    public void Dispose() => Close();

    private static ReadOnlySpan<byte> Lower(ReadOnlySpan<byte> id, Span<byte> buffer) =>
        buffer[..Math.Min(DocumentId.ToLower(id.Length > DocumentId.MaxBytes ? id[..DocumentId.MaxBytes] : id, buffer), DocumentId.MaxBytes)];

    private bool NextRow()
    {
        Release();
        if (_isOpen && _rowsLeft == 0)
        {
            Remember(_rows!.Key);
            Close();
        }

        if (!_isOpen)
        {
            _reader = _database.OpenReader();
            _isOpen = true;
            _rows = DamagePassedOver is { } passedOver
                ? _reader.Snapshot.SeekReadable(_from.AsSpan(0, _fromLength), _to.AsSpan(0, _toLength), passedOver)
                : _reader.Snapshot.Seek(_from.AsSpan(0, _fromLength), _to.AsSpan(0, _toLength), _backward);
            _rowsLeft = DocumentsPerSnapshot;
        }

        _rowsLeft--;
        _isAtRow = false;
        return _isAtRow = _rows!.MoveNext();
    }

    /// <summary>Keeps the place from which to go on.</summary>
    private void Remember(ReadOnlySpan<byte> key)
    {
        if (_backward)
        {
            key.CopyTo(_to);
            _toLength = key.Length;
        }
        else
        {
            key.CopyTo(_from);
            _from[key.Length] = 0;
            _fromLength = key.Length + 1;
        }
    }

    /// <summary>Keeps the place before a row.</summary>
    private void RememberAt(ReadOnlySpan<byte> key)
    {
        if (_backward)
        {
            key.CopyTo(_to);
            _to[key.Length] = 0;
            _toLength = key.Length + 1;
        }
        else
        {
            key.CopyTo(_from);
            _fromLength = key.Length;
        }
    }

    /// <summary>False when a part of a large document is damaged and damage is passed over.</summary>
    private bool IsWhole()
    {
        try
        {
            return DamagePassedOver is null || _large is null || !_large.Whole.IsEmpty;
        }
        catch (DamagedException damaged) when (DamagePassedOver is not null)
        {
            DamagePassedOver(damaged.Damage);
            return false;
        }
    }

    private void Release()
    {
        _document.Dispose();
        _document = default;
        _large?.Dispose();
        _large = null;
    }

    private void Close()
    {
        Release();
        if (_isOpen)
        {
            _isOpen = false;
            _rows!.Dispose();
            _reader.Dispose();
        }
    }
}
