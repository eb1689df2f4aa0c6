using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Documents.Schedules;
using Rookery.Documents.Stored;
using Rookery.Platform;
using Rookery.Queries.Language;

namespace Rookery.Queries.Answering;

/// <summary>
/// Walks over the documents that a query reads: a collection in the order of etags, or a list or prefix of ids in the
/// order of ids. Counts the documents that match. Not thread-safe.
/// </summary>
internal sealed class QueryWalk : IDisposable
{
    private static readonly DocumentSelection ByIds = new()
    {
        Collection = null,
        Condition = new IdCondition(IdConditionKind.OneOf, []),
    };

    private readonly AnswerReader _reader;
    private readonly DocumentSelection _selection;
    private readonly byte[]? _collection;
    private readonly byte[] _prefix = [];
    private readonly IReadOnlyList<ReadOnlyMemory<byte>> _ids = [];
    private readonly IReadOnlyList<double>? _scores;
    private long? _total;
    private DocumentCursor? _cursor;
    private bool _isPaused;
    private int _nextId;
    private Document _documentById;
    private long _toSkip;
    private long _remaining;
    private long _matched;

    /// <summary>Creates a walk positioned before the first document.</summary>
    /// <param name="reader">Reads the documents; outlives the walk.</param>
    /// <param name="selection">The documents, and the page of them.</param>
    /// <exception cref="QueryException">The prefix exceeds the maximum length.</exception>
    public QueryWalk(AnswerReader reader, DocumentSelection selection)
    {
        _selection = selection;
        _reader = reader;
        _collection = selection.Collection is { } name ? Encoding.UTF8.GetBytes(name) : null;
        _toSkip = selection.Offset;
        _remaining = selection.Limit ?? long.MaxValue;
        if (selection.Condition is { Kind: IdConditionKind.OneOf } condition)
        {
            _ids = [.. condition.Values.Select(static id => (ReadOnlyMemory<byte>)Encoding.UTF8.GetBytes(id))];
            return;
        }

        _prefix = selection.Condition is { } startsWith ? PrefixOf(startsWith.Values[0]) : [];
        _cursor = OpenCursor();
    }

    /// <summary>Creates a walk over documents by id, in the order of the list.</summary>
    /// <param name="reader">Reads the documents; outlives the walk.</param>
    /// <param name="ids">The ids.</param>
    /// <param name="scores">The score of each id; null if the query does not score.</param>
    public QueryWalk(AnswerReader reader, IReadOnlyList<ReadOnlyMemory<byte>> ids, IReadOnlyList<double>? scores)
    {
        _scores = scores;
        _selection = ByIds;
        _reader = reader;
        _remaining = long.MaxValue;
        _ids = ids;
    }

    /// <summary>
    /// The current document with its body, valid until the next move. A large document is assembled in a buffer of its
    /// own length.
    /// </summary>
    public DocumentView View => _cursor is null ? _documentById.View : _cursor.View;

    /// <summary>The current document. Leaves out a large body, which would have to be assembled.</summary>
    public DocumentView Head => _cursor is null ? _documentById.Head : _cursor.Head;

    /// <summary>The etag of the current document.</summary>
    public long Etag => _cursor is null ? _documentById.Etag : _cursor.Etag;

    /// <summary>The score of the current document; null if the query does not score.</summary>
    public double? Score => _scores is null ? FoundScore : _scores[Position];

    /// <summary>The score of the current document, if it is computed during the walk.</summary>
    public double? FoundScore { get; set; }

    /// <summary>For a walk over ids, the position of the current id in the list.</summary>
    public int Position => _nextId - 1;

    /// <summary>
    /// Whether archived documents are skipped. Indexes leave them out, so a scan that stands for an index does, too.
    /// </summary>
    public bool ExcludesArchived { get; init; }

    /// <summary>
    /// Called for each document that the walk reads and for each id without one; may throw to end the walk. Null if
    /// unused.
    /// </summary>
    public Action? DocumentRead { get; init; }

    /// <summary>
    /// Called after each document that the walk skips, and after each id without a document. If it returns true, the
    /// move ends there (<see cref="WasInterrupted"/>). A walk may skip any number of documents, and other requests must
    /// run meanwhile. Null if unused.
    /// </summary>
    public Func<bool>? Interrupts { get; init; }

    /// <summary>
    /// Whether the last move ended because of <see cref="Interrupts"/>. The next move continues after that document.
    /// </summary>
    public bool WasInterrupted { get; private set; }

    /// <summary>Whether the documents are in ascending order of etags.</summary>
    public bool IsInOrderOfWriting => _selection.Condition is null;

    /// <summary>Whether the walk continues in a newer snapshot after each pause.</summary>
    public bool IsRenewed => _reader.IsRenewed;

    /// <summary>Bytes of the current document.</summary>
    public long Length => _cursor is null ? _documentById.Length : _cursor.Length;

    /// <summary>A reader for included documents, valid until the next pause. The caller must not dispose it.</summary>
    public DatabaseReader Reader => _reader.Current;

    /// <summary>
    /// Number of documents that match, whatever the page; null if <see cref="CountTotalAsync"/> must count them.
    /// </summary>
    public long? KnownTotal =>
        _total is null && AreAllMatches && !ExpiredDocuments.HasAny(_reader.Current)
            ? _total = PresentCount.CountStored(_reader.Current, _selection.Collection)
            : _total;

    /// <summary>
    /// Returns the number of documents that match, whatever the page. If it has to count them, it ends the walk, and
    /// yields between time slices. The caller has started the clock of <paramref name="slices"/>.
    /// </summary>
    /// <exception cref="QueryException">The query's working time is used up.</exception>
    /// <exception cref="OperationCanceledException">The client disconnected, or the node stops.</exception>
    public async ValueTask<long> CountTotalAsync(QueryTimeSlices slices)
    {
        if (KnownTotal is { } known)
        {
            return known;
        }

        _remaining = 0;
        if (AreAllMatches)
        {
            using var present = new PresentCount(_selection.Collection);
            while (!present.Continue(_reader.Current, () => slices.IsSliceOver))
            {
                await EndSliceAsync(slices);
            }

            _total = present.Value;
            return present.Value;
        }

        while (TryMatchNext() || WasInterrupted)
        {
            // TryMatchNext counts each match.
            if (slices.IsSliceOver)
            {
                await EndSliceAsync(slices);
            }
        }

        return _matched;
    }

    /// <summary>
    /// Returns how many ids of a walk over ids are in a set. Reads no document, and yields between time slices. Called
    /// before the first move; the caller has started the clock of <paramref name="slices"/>.
    /// </summary>
    /// <param name="lowerIds">The set, of ids in lower case, as those of the walk are.</param>
    /// <param name="slices">Limits the working time.</param>
    /// <exception cref="QueryException">The query's working time is used up.</exception>
    /// <exception cref="OperationCanceledException">The client disconnected, or the node stops.</exception>
    public async ValueTask<long> CountIdsAsync(IReadOnlySet<byte[]> lowerIds, QueryTimeSlices slices)
    {
        long count = 0;
        for (int i = 0; i < _ids.Count; i++)
        {
            if (slices.IsSliceOver)
            {
                await EndSliceAsync(slices);
            }

            count += lowerIds.Contains(_ids[i].ToArray()) ? 1 : 0;
        }

        return count;
    }

    /// <summary>Moves to the next document of the page.</summary>
    /// <returns>False after the last, or if the move was interrupted (<see cref="WasInterrupted"/>).</returns>
    public bool MoveNext()
    {
        WasInterrupted = false;
        while (_remaining > 0 && TryMatchNext())
        {
            if (_toSkip == 0)
            {
                _remaining--;
                return true;
            }

            _toSkip--;
            if (MustInterrupt())
            {
                return false;
            }
        }

        return false;
    }

    /// <summary>
    /// Moves to the next document, and yields each time the move is interrupted. The caller has started the clock of
    /// <paramref name="slices"/>.
    /// </summary>
    /// <exception cref="QueryException">The query's working time is used up.</exception>
    /// <exception cref="OperationCanceledException">The client disconnected, or the node stops.</exception>
    public ValueTask<bool> MoveNextAsync(QueryTimeSlices slices)
    {
        bool hasMoved = MoveNext();
        return hasMoved || !WasInterrupted ? ValueTask.FromResult(hasMoved) : ContinueAsync(slices);
    }

    private ValueTask EndSliceAsync(QueryTimeSlices slices)
    {
        Pause();
        return slices.YieldAsync();
    }

    private async ValueTask<bool> ContinueAsync(QueryTimeSlices slices)
    {
        do
        {
            Pause();
            await slices.YieldAsync();
            if (MoveNext())
            {
                return true;
            }
        } while (WasInterrupted);

        return false;
    }

    /// <summary>Moves back before the first document.</summary>
    public void Rewind()
    {
        ReleaseById();
        if (_cursor is not null)
        {
            _cursor.Dispose();
            _cursor = OpenCursor();
        }

        _isPaused = false;
        _nextId = 0;
        _toSkip = _selection.Offset;
        _remaining = _selection.Limit ?? long.MaxValue;
        _matched = 0;
    }

    /// <summary>Writes the current document.</summary>
    /// <param name="output">Receives the JSON.</param>
    /// <param name="historyId">The database's history id, for change vectors.</param>
    /// <param name="metadataOnly">Whether to write only the document's metadata.</param>
    public void Write(IResultBuffer output, ReadOnlySpan<byte> historyId, bool metadataOnly)
    {
        if (metadataOnly)
        {
            DocumentWriter.WriteMetadataOnly(output, Head, Etag, historyId);
        }
        else if (_cursor is null)
        {
            _documentById.Write(output, historyId);
        }
        else
        {
            _cursor.Write(output, historyId);
        }
    }

    /// <summary>
    /// Releases the current document and pauses the reader before a wait. The next move returns the same document
    /// again.
    /// </summary>
    public void StepBack()
    {
        ReleaseById();
        _cursor?.StepBack();
        PauseReader();
        _nextId--;
        _remaining++;
        _matched--;
    }

    /// <summary>
    /// Releases the current document and pauses the reader before a wait. The next move returns the document after it.
    /// </summary>
    public void Pause()
    {
        ReleaseById();
        _cursor?.Pause();
        PauseReader();
    }

    public void Dispose()
    {
        ReleaseById();
        _cursor?.Dispose();
    }

    private void PauseReader()
    {
        _isPaused = true;
        _reader.Pause();
    }

    private DocumentCursor OpenCursor()
    {
        if (_selection.Condition is not null)
        {
            return _reader.Current.SeekByIdPrefix(_prefix);
        }
        return _collection is null
            ? _reader.Current.SeekByEtag(afterEtag: 0)
            : _reader.Current.SeekByCollection(CollectionKey(_collection));
    }

    private bool MustInterrupt() => WasInterrupted = Interrupts?.Invoke() == true;

    private DocumentCursor Cursor()
    {
        if (_isPaused && _reader.IsRenewed)
        {
            _cursor!.ContinueIn(_reader.Current);
        }

        _isPaused = false;
        return _cursor!;
    }

    private bool TryMatchNext()
    {
        WasInterrupted = false;
        while (_cursor is null ? TryNextById() : TryNextInOrder())
        {
            DocumentRead?.Invoke();
            if (IsMatch())
            {
                _matched++;
                return true;
            }

            if (MustInterrupt())
            {
                return false;
            }
        }

        return false;
    }

    // Whether all documents of the database or collection match.
    private bool AreAllMatches => !ExcludesArchived && _selection.Condition is null;

    private bool IsMatch() =>
        !(ExcludesArchived && ScheduledTimes.IsArchived(Head.Metadata))
        && (_selection.Condition is null || _collection is null || IsInCollection());

    private bool TryNextInOrder()
    {
        var cursor = Cursor();
        while (cursor.MoveNext(out bool isPresent))
        {
            if (isPresent)
            {
                return true;
            }

            DocumentRead?.Invoke();
            if (MustInterrupt())
            {
                return false;
            }
        }

        return false;
    }

    private bool TryNextById()
    {
        ReleaseById();
        while (_nextId < _ids.Count)
        {
            var id = _ids[_nextId++].Span;
            if (DocumentId.TryValidate(id, out _) && _reader.Current.TryGetDocument(id, out _documentById))
            {
                return true;
            }

            DocumentRead?.Invoke();
            if (MustInterrupt())
            {
                return false;
            }
        }

        return false;
    }

    private void ReleaseById()
    {
        _documentById.Dispose();
        _documentById = default;
    }

    private bool IsInCollection()
    {
        var collection = Head.Collection;
        var expected = CollectionKey(_collection!);
        if (collection.SequenceEqual(expected))
        {
            return true;
        }

        // The store compares collection names without case, so this comparison does, too. QueryPlan refuses a longer
        // name.
        Span<byte> lowerCollection = stackalloc byte[2 * DocumentLimits.MaxCollectionBytes];
        Span<byte> lowerExpected = stackalloc byte[2 * DocumentLimits.MaxCollectionBytes];
        return lowerCollection[..DocumentId.ToLower(collection, lowerCollection)]
            .SequenceEqual(lowerExpected[..DocumentId.ToLower(expected, lowerExpected)]);
    }

    private static byte[] PrefixOf(string text)
    {
        byte[] prefix = Encoding.UTF8.GetBytes(text);
        return prefix.Length <= DocumentId.MaxBytes
            ? prefix
            : throw new QueryException(
                QueryFault.Invalid,
                $"The prefix of startsWith has at most {Amount.Number(DocumentId.MaxBytes)} B of UTF-8; this one has "
                    + $"{Amount.Number(prefix.Length)} B."
            );
    }

    // The collection "@empty" holds the documents without a collection, whose stored name is empty.
    private static ReadOnlySpan<byte> CollectionKey(byte[] collection) =>
        collection.AsSpan().SequenceEqual("@empty"u8) ? default : collection;
}
