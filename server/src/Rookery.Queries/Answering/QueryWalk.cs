using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Documents.Stored;
using Rookery.Platform;
using Rookery.Queries.Language;

namespace Rookery.Queries.Answering;

/// <summary>
/// The documents that a query has to look at: a collection in the order it was written, or ids and those of a prefix in
/// the order of ids. Counts what it passes, so that the total is known at the end without a second walk.
/// </summary>
internal sealed class QueryWalk : IDisposable
{
    private static readonly IdQuery ByIds = new()
    {
        Collection = null,
        Condition = new IdCondition(IdConditionKind.OneOf, []),
    };

    private readonly AnswerReader _reader;
    private readonly IdQuery _query;
    private readonly byte[]? _collection;
    private readonly byte[] _prefix = [];
    private readonly IReadOnlyList<ReadOnlyMemory<byte>> _ids = [];
    private readonly IReadOnlyList<double>? _scores;
    private readonly long? _knownTotal;
    private DocumentCursor? _cursor;
    private bool _isPaused;
    private int _nextId;
    private Document _byId;
    private long _toSkip;
    private long _left;
    private long _matched;

    /// <summary>A walk at its beginning.</summary>
    /// <param name="reader">Reads the documents; outlives the walk.</param>
    /// <param name="query">Which.</param>
    /// <exception cref="QueryException">A name or prefix is longer than any can be.</exception>
    public QueryWalk(AnswerReader reader, IdQuery query)
    {
        _query = query;
        _reader = reader;
        _collection = query.Collection is { } name
            ? Utf8(name, DocumentLimits.MaxCollectionBytes, "The name of a collection")
            : null;
        _toSkip = query.Offset;
        _left = query.Limit ?? long.MaxValue;
        if (query.Condition is { Kind: IdConditionKind.OneOf } condition)
        {
            _ids = [.. condition.Values.Select(static id => (ReadOnlyMemory<byte>)Encoding.UTF8.GetBytes(id))];
            return;
        }

        _prefix = query.Condition is { } startsWith
            ? Utf8(startsWith.Values[0], DocumentId.MaxBytes, "The prefix of startsWith")
            : [];
        _knownTotal = query.Condition is null ? CountAll(reader.Current) : null;
        _cursor = OpenCursor();
    }

    /// <summary>A walk over documents by their ids, in that order.</summary>
    /// <param name="reader">Reads the documents; outlives the walk.</param>
    /// <param name="ids">The ids.</param>
    /// <param name="scores">How relevant each is; null where none is more than others.</param>
    public QueryWalk(AnswerReader reader, IReadOnlyList<ReadOnlyMemory<byte>> ids, IReadOnlyList<double>? scores)
    {
        _scores = scores;
        _query = ByIds;
        _reader = reader;
        _left = long.MaxValue;
        _ids = ids;
    }

    /// <summary>
    /// The document at hand, whole; valid until the next move. A large one takes as much memory again.
    /// </summary>
    public DocumentView View => _cursor is null ? _byId.View : _cursor.View;

    /// <summary>The same without the body of a large document, which costs little.</summary>
    public DocumentView Head => _cursor is null ? _byId.Head : _cursor.Head;

    /// <summary>The etag of the document at hand.</summary>
    public long Etag => _cursor is null ? _byId.Etag : _cursor.Etag;

    /// <summary>How relevant the document at hand is; null where none is more than others.</summary>
    public double? Score => _scores is null ? FoundScore : _scores[Place];

    /// <summary>The same where it was found out when the document was met.</summary>
    public double? FoundScore { get; set; }

    /// <summary>Of a walk over ids, the place of the one at hand among them.</summary>
    public int Place => _nextId - 1;

    /// <summary>
    /// Called for each document that the walk meets, so that one over many can be ended; null where it need not.
    /// </summary>
    public Action? Passed { get; init; }

    /// <summary>Whether documents come in the order in which they were written.</summary>
    public bool IsInOrderOfWriting => _query.Condition is null;

    /// <summary>Whether it goes on in a later moment after each pause.</summary>
    public bool IsRenewed => _reader.IsRenewed;

    /// <summary>Bytes of the document at hand.</summary>
    public long Length => _cursor is null ? _byId.Length : _cursor.Length;

    /// <summary>A reader for what else the answer holds, until the next pause. Not to be disposed.</summary>
    public DatabaseReader Reader => _reader.Current;

    /// <summary>The number of documents that match, when it is known without walking; null otherwise.</summary>
    public long? KnownTotal => _knownTotal;

    /// <summary>
    /// The number of documents that match, whatever the page. Known at once for whole collections, otherwise after the
    /// walk.
    /// </summary>
    public long CountTotal()
    {
        if (_knownTotal is { } known)
        {
            return known;
        }

        _left = 0;
        while (TryMatchNext())
        {
            // Each match counts itself.
        }

        return _matched;
    }

    public bool MoveNext()
    {
        if (_query.Condition is null && _toSkip > 0)
        {
            Skip();
        }

        while (_left > 0 && TryMatchNext())
        {
            if (_toSkip > 0)
            {
                _toSkip--;
                continue;
            }

            _left--;
            return true;
        }

        return false;
    }

    /// <summary>Begins again.</summary>
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
        _toSkip = _query.Offset;
        _left = _query.Limit ?? long.MaxValue;
        _matched = 0;
    }

    /// <summary>Writes the document at hand.</summary>
    /// <param name="output">Where to.</param>
    /// <param name="historyId">The database's.</param>
    /// <param name="metadataOnly">Whether only its metadata is wanted.</param>
    public void Write(IResultBuffer output, ReadOnlySpan<byte> historyId, bool metadataOnly)
    {
        if (metadataOnly)
        {
            DocumentWriter.WriteMetadataOnly(output, Head, Etag, historyId);
        }
        else if (_cursor is null)
        {
            _byId.Write(output, historyId);
        }
        else
        {
            _cursor.Write(output, historyId);
        }
    }

    /// <summary>Lets go of the document at hand, which the next move meets again.</summary>
    public void StepBack()
    {
        ReleaseById();
        _cursor?.StepBack();
        PauseReader();
        _nextId--;
        _left++;
        _matched--;
    }

    /// <summary>Lets go of the document at hand until the next move.</summary>
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

    private DocumentCursor OpenCursor() =>
        _query.Condition is not null ? _reader.Current.ByIdPrefix(_prefix)
        : _collection is null ? _reader.Current.ByEtag(0)
        : _reader.Current.ByCollection(CollectionKey(_collection));

    private void Skip()
    {
        while (_toSkip > 0 && Cursor().Skip(1) > 0)
        {
            _toSkip--;
            Passed?.Invoke();
        }

        _toSkip = 0;
    }

    private DocumentCursor Cursor()
    {
        if (_isPaused && _reader.IsRenewed)
        {
            _cursor!.GoOnIn(_reader.Current);
        }

        _isPaused = false;
        return _cursor!;
    }

    private bool TryMatchNext()
    {
        while (_cursor is null ? TryNextById() : Cursor().MoveNext())
        {
            Passed?.Invoke();
            if (_query.Condition is null || _collection is null || IsInCollection())
            {
                _matched++;
                return true;
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
            if (DocumentId.TryValidate(id, out _) && _reader.Current.TryGetDocument(id, out _byId))
            {
                return true;
            }
        }

        return false;
    }

    private void ReleaseById()
    {
        _byId.Dispose();
        _byId = default;
    }

    private bool IsInCollection()
    {
        var collection = Head.Collection;
        var wanted = CollectionKey(_collection!);
        if (collection.SequenceEqual(wanted))
        {
            return true;
        }

        // As the store finds a collection by its name.
        Span<byte> one = stackalloc byte[2 * DocumentLimits.MaxCollectionBytes];
        Span<byte> other = stackalloc byte[2 * DocumentLimits.MaxCollectionBytes];
        return one[..DocumentId.ToLower(collection, one)].SequenceEqual(other[..DocumentId.ToLower(wanted, other)]);
    }

    private static byte[] Utf8(string text, int maxBytes, string what)
    {
        byte[] bytes = Encoding.UTF8.GetBytes(text);
        return bytes.Length <= maxBytes
            ? bytes
            : throw new QueryException(
                QueryFault.Invalid,
                $"{what} has at most {Amount.Number(maxBytes)} B of UTF-8; this one has "
                    + $"{Amount.Number(bytes.Length)} B."
            );
    }

    // Documents without a collection are stored with an empty name and shown in "@empty".
    private static ReadOnlySpan<byte> CollectionKey(byte[] collection) =>
        collection.AsSpan().SequenceEqual("@empty"u8) ? default : collection;

    private long CountAll(in DatabaseReader reader)
    {
        if (_query.Collection is null)
        {
            return reader.ReadStatistics().Documents;
        }

        foreach (var collection in reader.ReadCollections())
        {
            if (collection.Name.Equals(_query.Collection, StringComparison.OrdinalIgnoreCase))
            {
                return collection.Documents;
            }
        }

        return 0;
    }
}
