using System.Text;
using Rookery.Documents;
using Rookery.Documents.Ids;
using Rookery.Documents.Json;

namespace Rookery.Server.Raven.Queries;

/// <summary>
/// The documents of a query that needs no index: a collection in the order it was written, ids in the order asked, or a prefix in id order. Counts what it
/// passes, so that the total is known at the end without a second walk.
/// </summary>
internal sealed class QueryWalk : IDisposable
{
    private readonly DatabaseReader _reader;
    private readonly IdQuery _query;
    private readonly byte[]? _collection;
    private readonly DocumentCursor? _cursor;
    private readonly long? _knownTotal;
    private int _nextId;
    private Document _byId;
    private long _toSkip;
    private long _left;
    private long _matched;

    public QueryWalk(Database database, IdQuery query)
    {
        _query = query;
        _reader = database.OpenReader();
        _collection = query.Collection is { } name ? Encoding.UTF8.GetBytes(name) : null;
        _toSkip = query.Offset;
        _left = query.Limit ?? long.MaxValue;
        if (query.Condition is null)
        {
            _knownTotal = CountAll();
            _cursor = _collection is null ? _reader.ByEtag(0) : _reader.ByCollection(CollectionKey(_collection));
            _cursor.Skip(_toSkip);
            _toSkip = 0;
        }
        else if (query.Condition.Kind == IdConditionKind.StartsWith)
        {
            _cursor = _reader.ByIdPrefix(Encoding.UTF8.GetBytes(query.Condition.Values[0]));
        }
    }

    /// <summary>The document at hand; valid until the next move.</summary>
    public DocumentView View => _cursor is null ? _byId.View : _cursor.View;

    public long Etag => _cursor is null ? _byId.Etag : _cursor.Etag;

    public DatabaseReader Reader => _reader;

    /// <summary>The number of documents that match, whatever the page. Known at once for whole collections, otherwise after the walk.</summary>
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

    public void Dispose()
    {
        ReleaseById();
        _cursor?.Dispose();
        _reader.Dispose();
    }

    private bool TryMatchNext()
    {
        while (_cursor is null ? TryNextById() : _cursor.MoveNext())
        {
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
        var ids = _query.Condition!.Values;
        while (_nextId < ids.Count)
        {
            string asked = ids[_nextId++];
            byte[] id = Encoding.UTF8.GetBytes(asked);
            bool isRepeated = ids.Take(_nextId - 1).Contains(asked, StringComparer.OrdinalIgnoreCase);
            if (!isRepeated && DocumentId.TryValidate(id, out _) && _reader.TryGetDocument(id, out _byId))
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
        var collection = View.Collection;
        var wanted = CollectionKey(_collection!);
        return collection.SequenceEqual(wanted)
            || Encoding.UTF8.GetString(collection).Equals(Encoding.UTF8.GetString(wanted), StringComparison.OrdinalIgnoreCase);
    }

    // Documents without a collection are stored with an empty name and shown in "@empty".
    private static ReadOnlySpan<byte> CollectionKey(byte[] collection) => collection.AsSpan().SequenceEqual("@empty"u8) ? default : collection;

    private long CountAll()
    {
        if (_query.Collection is null)
        {
            return _reader.ReadStatistics().Documents;
        }

        foreach (var collection in _reader.ReadCollections())
        {
            if (collection.Name.Equals(_query.Collection, StringComparison.OrdinalIgnoreCase))
            {
                return collection.Documents;
            }
        }

        return 0;
    }
}
