using System.Buffers;
using Rookery.Documents.Apply;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Databases;

/// <summary>
/// Walks over the documents of one reader, which must stay open: all of the walk is of its moment, however long it
/// takes. What it holds besides goes with <see cref="Pause"/>; a walk that may go on in a later moment is told of it by
/// <see cref="GoOnIn"/>. One thread at a time.
/// </summary>
public sealed class DocumentCursor : IDisposable
{
    private readonly bool _isIndirect;
    private readonly bool _backward;

    // The rest of the walk: [_from, _to).
    private readonly byte[] _from;
    private readonly byte[] _to;
    private int _fromLength;
    private int _toLength;
    private DatabaseReader _reader;
    private RowCursor? _rows;
    private Document _document;
    private LargeDocument? _large;
    private bool _isAtRow;
    private bool _isOver;

    private DocumentCursor(
        in DatabaseReader reader,
        ReadOnlySpan<byte> from,
        ReadOnlySpan<byte> to,
        bool isIndirect,
        bool backward
    )
    {
        _reader = reader;
        _isIndirect = isIndirect;
        _backward = backward;
        _from = new byte[Key.MaxBytes + 1];
        _to = new byte[Key.MaxBytes + 1];
        from.CopyTo(_from);
        to.CopyTo(_to);
        _fromLength = from.Length;
        _toLength = to.Length;
    }

    /// <summary>
    /// Told of each damaged stretch that is gone past, perhaps more than once; null: damage ends the walk. Only in the
    /// order of ids.
    /// </summary>
    private Action<DamageEvent>? DamagePassedOver { get; init; }

    /// <summary>The etag of the document at hand.</summary>
    public long Etag { get; private set; }

    /// <summary>Bytes that the document at hand is stored in, before compression.</summary>
    public long Length => _isIndirect ? _document.Length : _rows!.Length;

    /// <summary>
    /// The document at hand, valid until the next move. A large one is put together for it, in as much memory again.
    /// </summary>
    public DocumentView View =>
        _isIndirect ? _document.View : new DocumentView(_large is null ? _rows!.Value : _large.Whole);

    /// <summary>The same without the body of a large document, which costs little.</summary>
    public DocumentView Head =>
        _isIndirect ? _document.Head : new DocumentView(_large is null ? _rows!.Value : _large.Head);

    internal static DocumentCursor ById(
        in DatabaseReader reader,
        ReadOnlySpan<byte> prefix,
        ReadOnlySpan<byte> startAfter,
        Action<DamageEvent>? damagePassedOver = null
    )
    {
        Span<byte> lower = stackalloc byte[2 * DocumentId.MaxBytes];
        Span<byte> from = stackalloc byte[Key.PrefixBytes + (2 * DocumentId.MaxBytes)];
        Span<byte> to = stackalloc byte[Key.PrefixBytes + (2 * DocumentId.MaxBytes)];
        Span<byte> last = stackalloc byte[Key.PrefixBytes + (2 * DocumentId.MaxBytes) + 1];
        var first = Key.Text(from, reader.Database.Number, Table.Documents, Lower(prefix, lower));
        var after = Key.After(to, first);
        var lastSeen = Key.Text(last, reader.Database.Number, Table.Documents, Lower(startAfter, lower));
        if (!startAfter.IsEmpty && lastSeen.SequenceCompareTo(first) >= 0)
        {
            last[lastSeen.Length] = 0; // the smallest key after it
            first = last[..(lastSeen.Length + 1)];
        }

        return new DocumentCursor(reader, first, after, isIndirect: false, backward: false)
        {
            DamagePassedOver = damagePassedOver,
        };
    }

    internal static DocumentCursor ByEtag(in DatabaseReader reader, long afterEtag, bool backward)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        return new DocumentCursor(
            reader,
            Key.Number(from, reader.Database.Number, Table.ByEtag, Math.Max(afterEtag, 0) + 1),
            Key.Prefix(to, reader.Database.Number, Table.ByEtag + 1),
            isIndirect: true,
            backward
        );
    }

    internal static DocumentCursor ByCollection(in DatabaseReader reader, ReadOnlySpan<byte> collection, long afterEtag)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        collection =
            collection.Length > DocumentLimits.MaxCollectionBytes
                ? collection[..DocumentLimits.MaxCollectionBytes]
                : collection;
        return new DocumentCursor(
            reader,
            Key.Collection(from, reader.Database.Number, collection, Math.Max(afterEtag, 0) + 1),
            Key.Collection(to, reader.Database.Number, collection, long.MaxValue),
            isIndirect: true,
            backward: false
        );
    }

    /// <summary>Goes to the next document.</summary>
    /// <returns>False at the end.</returns>
    /// <exception cref="DamagedException">What would come next cannot be trusted.</exception>
    /// <exception cref="SnapshotEndedException">The reader keeps more from being given back than readers
    /// may.</exception>
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

    /// <summary>
    /// Writes the document at hand as clients read it. The body of a large one goes chunk by chunk to the output, each
    /// checked.
    /// </summary>
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

    /// <summary>Lets go of the document at hand, which the next move meets again.</summary>
    public void StepBack()
    {
        RememberAt(_rows!.Key);
        Close();
    }

    /// <summary>
    /// Lets go of the document at hand and of the blocks around it until the next move, while a slow client is waited
    /// for. The reader stays.
    /// </summary>
    public void Pause()
    {
        if (_isAtRow)
        {
            Remember(_rows!.Key);
            Close();
        }
    }

    /// <summary>
    /// Goes on behind the last document in another reader of the same database. Only behind <see cref="Pause"/> or
    /// <see cref="StepBack"/>.
    /// </summary>
    public void GoOnIn(in DatabaseReader reader)
    {
        Invariant.Holds(_rows is null, "a walk that changes its reader holds nothing of the one before");
        _reader = reader;
    }

    /// <inheritdoc/>
    public void Dispose() => Close();

    private static ReadOnlySpan<byte> Lower(ReadOnlySpan<byte> id, Span<byte> buffer) =>
        buffer[
            ..Math.Min(
                DocumentId.ToLower(id.Length > DocumentId.MaxBytes ? id[..DocumentId.MaxBytes] : id, buffer),
                DocumentId.MaxBytes
            )
        ];

    private bool NextRow()
    {
        Release();
        if (_isOver)
        {
            return false;
        }

        _reader.ThrowIfEnded();
        _rows ??= DamagePassedOver is { } passedOver
            ? _reader.Snapshot.SeekReadable(_from.AsSpan(0, _fromLength), _to.AsSpan(0, _toLength), passedOver)
            : _reader.Snapshot.Seek(_from.AsSpan(0, _fromLength), _to.AsSpan(0, _toLength), _backward);
        _isAtRow = false;
        if (_rows.MoveNext())
        {
            return _isAtRow = true;
        }

        Close();
        _isOver = true;
        return false;
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
        _isAtRow = false;
        _rows?.Dispose();
        _rows = null;
    }
}
