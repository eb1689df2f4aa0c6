using System.Buffers;
using Rookery.Documents.Apply;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Databases;

/// <summary>
/// Iterates over the documents of one reader's snapshot; the reader must stay open. <see cref="Pause"/> releases the
/// cursor's blocks; <see cref="ContinueIn"/> then continues in a newer snapshot. One thread at a time.
/// </summary>
public sealed class DocumentCursor : IDisposable
{
    // Whether the cursor reads the rows keyed by etag or by collection, which hold only the document's id.
    private readonly bool _isIndirect;
    private readonly bool _isBackward;

    // The range of keys from which _rows is opened: _from is included, _to is not. While _rows is open, it holds the
    // position. Pause and StepBack store the position here before they close _rows.
    private readonly byte[] _from;
    private readonly byte[] _to;
    private int _fromLength;
    private int _toLength;
    private DatabaseReader _reader;
    private RowCursor? _rows;
    private Document _document;
    private LargeDocument? _large;
    private bool _isAtRow;
    private bool _isAtEnd;

    private DocumentCursor(
        in DatabaseReader reader,
        ReadOnlySpan<byte> from,
        ReadOnlySpan<byte> to,
        bool isIndirect,
        bool isBackward
    )
    {
        _reader = reader;
        _isIndirect = isIndirect;
        _isBackward = isBackward;
        _from = new byte[Key.MaxBytes + 1];
        _to = new byte[Key.MaxBytes + 1];
        from.CopyTo(_from);
        to.CopyTo(_to);
        _fromLength = from.Length;
        _toLength = to.Length;
    }

    /// <summary>
    /// Receives each damaged range that is skipped, possibly more than once. If null, damage throws. Only for cursors
    /// in id order.
    /// </summary>
    private Action<DamageEvent>? DamageSkipped { get; init; }

    /// <summary>Whether the cursor also returns expired items. True for compare-exchange values.</summary>
    private bool KeepsExpired { get; init; }

    /// <summary>Etag of the current document.</summary>
    public long Etag { get; private set; }

    /// <summary>Uncompressed size of the current document as stored, in bytes.</summary>
    public long Length => _isIndirect ? _document.Length : _rows!.Length;

    /// <summary>
    /// The current document, valid until the next move. A large document is assembled from its chunks in as much
    /// additional memory.
    /// </summary>
    public DocumentView View =>
        _isIndirect ? _document.View : new DocumentView(_large is null ? _rows!.Value : _large.Whole);

    /// <summary>Like <see cref="View"/>, but without the body of a large document, which makes it cheap.</summary>
    public DocumentView Head =>
        _isIndirect ? _document.Head : new DocumentView(_large is null ? _rows!.Value : _large.Head);

    internal static DocumentCursor SeekByIdPrefix(
        in DatabaseReader reader,
        ReadOnlySpan<byte> prefix,
        ReadOnlySpan<byte> startAfter,
        Action<DamageEvent>? damageSkipped = null
    )
    {
        Invariant.Holds(startAfter.Length <= DocumentId.MaxBytes, "a cursor begins after an id that is valid");
        Span<byte> lower = stackalloc byte[2 * DocumentId.MaxBytes];
        if (!TryToLower(prefix, lower, out int prefixLength))
        {
            return SeekNothing(reader);
        }

        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        Span<byte> lastKeyBuffer = stackalloc byte[Key.MaxBytes];
        var startKey = Key.WriteText(from, reader.Database.Number, Table.Documents, lower[..prefixLength]);
        var endKey = Key.WriteAfterPrefix(to, startKey);

        // No id is longer than MaxBytes, so the same ids follow the truncated text and the whole text.
        int lastSkippedLength = Math.Min(DocumentId.ToLower(startAfter, lower), DocumentId.MaxBytes);
        var lastSkippedKey = Key.WriteText(
            lastKeyBuffer,
            reader.Database.Number,
            Table.Documents,
            lower[..lastSkippedLength]
        );
        if (!startAfter.IsEmpty && lastSkippedKey.SequenceCompareTo(startKey) >= 0)
        {
            lastKeyBuffer[lastSkippedKey.Length] = 0; // the next possible key
            startKey = lastKeyBuffer[..(lastSkippedKey.Length + 1)];
        }

        return new DocumentCursor(reader, startKey, endKey, isIndirect: false, isBackward: false)
        {
            DamageSkipped = damageSkipped,
        };
    }

    /// <summary>Returns compare-exchange values, which are stored like documents; their ids are the keys.</summary>
    internal static DocumentCursor SeekCompareExchange(in DatabaseReader reader, ReadOnlySpan<byte> prefix)
    {
        Span<byte> lower = stackalloc byte[2 * DocumentId.MaxBytes];
        if (!TryToLower(prefix, lower, out int prefixLength))
        {
            return SeekNothing(reader);
        }

        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        var startKey = Key.WriteText(from, reader.Database.Number, Table.CompareExchange, lower[..prefixLength]);
        return new DocumentCursor(
            reader,
            startKey,
            Key.WriteAfterPrefix(to, startKey),
            isIndirect: false,
            isBackward: false
        )
        {
            KeepsExpired = true,
        };
    }

    internal static DocumentCursor SeekByEtag(in DatabaseReader reader, long afterEtag, bool isBackward)
    {
        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        return new DocumentCursor(
            reader,
            Key.WriteNumber(from, reader.Database.Number, Table.ByEtag, Math.Max(afterEtag, 0) + 1),
            Key.WritePrefix(to, reader.Database.Number, Table.ByEtag + 1),
            isIndirect: true,
            isBackward
        );
    }

    internal static DocumentCursor SeekByCollection(
        in DatabaseReader reader,
        ReadOnlySpan<byte> collection,
        long afterEtag
    )
    {
        if (collection.Length > DocumentLimits.MaxCollectionBytes)
        {
            return SeekNothing(reader);
        }

        Span<byte> from = stackalloc byte[Key.MaxBytes];
        Span<byte> to = stackalloc byte[Key.MaxBytes];
        return new DocumentCursor(
            reader,
            Key.WriteCollection(from, reader.Database.Number, collection, Math.Max(afterEtag, 0) + 1),
            Key.WriteCollection(to, reader.Database.Number, collection, long.MaxValue),
            isIndirect: true,
            isBackward: false
        );
    }

    /// <summary>
    /// Moves to the next document that clients find. For readers that hide no documents, and for callers that may skip
    /// any number of them without a pause.
    /// </summary>
    /// <returns>False at the end.</returns>
    /// <exception cref="DamagedException">The rows that follow are damaged.</exception>
    /// <exception cref="SnapshotEndedException">The snapshot pins too much memory or too many files.</exception>
    public bool MoveNext()
    {
        while (MoveNext(out bool isPresent))
        {
            if (isPresent)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>
    /// Moves to the next document, also to one that clients do not find, so that the caller can pause between any
    /// number of them.
    /// </summary>
    /// <param name="isPresent">Whether clients find the document. If not, it has expired, or it is damaged and the
    /// cursor skips damage; only its <see cref="Etag"/> may be read.</param>
    /// <inheritdoc cref="MoveNext()"/>
    public bool MoveNext(out bool isPresent)
    {
        while (MoveNextRow())
        {
            if (!_isIndirect)
            {
                Etag = _rows!.Sequence;
                _large = _rows.IsLarge ? new LargeDocument(_rows.Length, _rows.CopyTo) : null;
                isPresent =
                    TryAssemble()
                    && (KeepsExpired || !_reader.Hidden.Contain(_large is null ? _rows.Value : _large.Head));
                return true;
            }

            long etag = Key.LastNumberOf(_rows!.Key);
            if (_reader.TryGetVersion(_rows.Value, etag, out _document))
            {
                Etag = etag;
                isPresent = !_reader.Hidden.Contain(_document);
                return true;
            }
        }

        isPresent = false;
        return false;
    }

    /// <summary>
    /// Writes the current document in its form for clients. The body of a large document is checked and written chunk
    /// by chunk.
    /// </summary>
    /// <param name="output">Receives the JSON.</param>
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

    /// <summary>
    /// Moves back before the current document, so that the next move returns it again. Releases its blocks.
    /// </summary>
    public void StepBack()
    {
        SetPositionBefore(_rows!.Key);
        Close();
    }

    /// <summary>
    /// Releases the current document and its blocks until the next move, for instance during a wait for a slow client.
    /// The reader stays open.
    /// </summary>
    public void Pause()
    {
        if (_isAtRow)
        {
            SetPositionAfter(_rows!.Key);
            Close();
        }
    }

    /// <summary>
    /// Continues at the same position in another reader of the same database. Call it only after <see cref="Pause"/> or
    /// <see cref="StepBack"/>.
    /// </summary>
    public void ContinueIn(in DatabaseReader reader)
    {
        Invariant.Holds(_rows is null, "a cursor that changes its reader has released the blocks of the previous one");
        _reader = reader;
    }

    /// <inheritdoc/>
    public void Dispose() => Close();

    /// <summary>Returns a cursor without documents.</summary>
    private static DocumentCursor SeekNothing(in DatabaseReader reader) =>
        new(reader, from: [], to: [], isIndirect: false, isBackward: false) { _isAtEnd = true };

    /// <summary>
    /// Lower-cases a prefix of ids; returns false if it is longer than any id, so that no id begins with it. The result
    /// may be longer than the prefix by half (U+023A takes two bytes, U+2C65 three).
    /// </summary>
    private static bool TryToLower(ReadOnlySpan<byte> prefix, Span<byte> lower, out int length)
    {
        length = prefix.Length > DocumentId.MaxBytes ? prefix.Length : DocumentId.ToLower(prefix, lower);
        return length <= DocumentId.MaxBytes;
    }

    private bool MoveNextRow()
    {
        ReleaseDocument();
        if (_isAtEnd)
        {
            return false;
        }

        _reader.ThrowIfEnded();
        _rows ??= DamageSkipped is { } damageSkipped
            ? _reader.Snapshot.SeekReadable(_from.AsSpan(0, _fromLength), _to.AsSpan(0, _toLength), damageSkipped)
            : _reader.Snapshot.Seek(_from.AsSpan(0, _fromLength), _to.AsSpan(0, _toLength), _isBackward);
        _isAtRow = false;
        if (_rows.MoveNext())
        {
            _isAtRow = true;
            return true;
        }

        Close();
        _isAtEnd = true;
        return false;
    }

    /// <summary>Stores the position after a row.</summary>
    private void SetPositionAfter(ReadOnlySpan<byte> key)
    {
        if (_isBackward)
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

    /// <summary>Stores the position before a row.</summary>
    private void SetPositionBefore(ReadOnlySpan<byte> key)
    {
        if (_isBackward)
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

    /// <summary>
    /// Assembles a large document if damage is skipped. Returns false if the document is damaged.
    /// </summary>
    private bool TryAssemble()
    {
        try
        {
            // Assembling the document checks each of its chunks.
            return DamageSkipped is null || _large is null || !_large.Whole.IsEmpty;
        }
        catch (DamagedException damaged) when (DamageSkipped is not null)
        {
            DamageSkipped(damaged.Damage);
            return false;
        }
    }

    private void ReleaseDocument()
    {
        _document.Dispose();
        _document = default;
        _large?.Dispose();
        _large = null;
    }

    private void Close()
    {
        ReleaseDocument();
        _isAtRow = false;
        _rows?.Dispose();
        _rows = null;
    }
}
