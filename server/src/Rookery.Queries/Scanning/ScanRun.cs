using System.Buffers;
using System.Buffers.Binary;
using System.Security.Cryptography;
using Rookery.Indexing.Grouping;
using Rookery.Indexing.Values;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Summaries;

namespace Rookery.Queries.Scanning;

/// <summary>
/// Evaluates a compiled query over documents, rows or groups that the caller adds one by one. Not thread-safe; releases
/// its memory when it is disposed.
/// </summary>
public sealed class ScanRun : IDisposable
{
    // Memory of one hash in a hash table, with the table's overhead.
    private const int BytesPerHash = 64;

    private readonly CompiledQuery _compiled;
    private readonly ScanMemory _memory;
    private readonly ScanWork _work;
    private readonly IWorkLimits _limits;
    private readonly bool _needsTotal;

    // The groups of documents; null unless the query groups.
    private readonly GroupTable? _groups;

    // The first results in the order of the query, up to the end of the page. With 'filter_limit': the first documents
    // that match 'where', up to that limit, because 'filter' applies to these only. Null if results are streamed, or
    // kept in _firstHitByHash.
    private readonly HitHeap? _hits;

    // For 'select distinct' of results that are not streamed: the first hit, by the hash of the result's JSON. With
    // 'filter_limit', _hits holds the hits instead.
    private readonly Dictionary<UInt128, ScanHit>? _firstHitByHash;

    // For 'select distinct' of streamed results: the hashes of the results so far.
    private readonly HashSet<UInt128>? _seenHashes;
    private readonly PooledBytes _sortKey = new();
    private readonly PooledBytes _firstRowKey = new();
    private readonly PooledBytes _plainContent = new();
    private readonly ArrayBufferWriter<byte> _projected = new();
    private readonly long _pageEnd;

    // Number of collected results; orders results that sort equally.
    private long _ordinal;

    // Number of documents (or rows or groups) that match 'where'. 'filter' is applied to these, up to 'filter_limit'.
    private long _matched;

    // Number of results, on the page or not.
    private long _total;

    internal ScanRun(CompiledQuery compiled, QueryMemory memory, IWorkLimits limits, bool needsTotal)
    {
        _compiled = compiled;
        _needsTotal = needsTotal;
        _limits = limits;
        _memory = new ScanMemory(memory);
        _work = new ScanWork(limits);
        _pageEnd = compiled.PageEnd;
        _groups = compiled.Groups is null ? null : new GroupTable(compiled.Groups, _memory);
        bool isStreamed = compiled.Sort.IsEmpty && _groups is null && compiled.Rows is null;
        if (isStreamed)
        {
            _seenHashes = compiled.IsDistinct ? [] : null;
        }
        else if (compiled.IsDistinct && compiled.FilterLimit is null)
        {
            _firstHitByHash = [];
        }
        else
        {
            _hits = new HitHeap(compiled.Sort, capacity: compiled.FilterLimit ?? _pageEnd);
        }
    }

    /// <summary>Whether no further document can change the answer.</summary>
    public bool IsComplete { get; private set; }

    /// <summary>Number of documents that <c>filter</c> was applied to; null if the query has none.</summary>
    public long? FilteredCount =>
        _compiled.Filter is null ? null : Math.Min(_matched, _compiled.FilterLimit ?? long.MaxValue);

    /// <summary>
    /// Whether <see cref="Add"/> reports each result as it is evaluated, so that nothing is collected.
    /// </summary>
    private bool IsStreamed => _hits is null && _firstHitByHash is null;

    /// <summary>
    /// The score of the document for which <see cref="Add"/> last returned true; null if the query does not score.
    /// </summary>
    public double? Score { get; private set; }

    /// <summary>
    /// Whether a document matches the query's conditions. Always true for a grouped query, whose conditions apply to
    /// groups.
    /// </summary>
    public bool Matches(in QueriedDocument document) =>
        _groups is not null
        || (
            _compiled.Matches(document, _work)
            && (_compiled.Filter is null || _compiled.Filter.Matches(document.Whole, _work))
        );

    /// <summary>Evaluates the next document.</summary>
    /// <param name="document">The document.</param>
    /// <returns>Whether it is a result to be written at once.</returns>
    public bool Add(in QueriedDocument document)
    {
        if (_groups is not null)
        {
            _groups.Add(document, _work);
            return false;
        }

        return Evaluate(document, row: null);
    }

    /// <summary>
    /// Evaluates the index rows of a document. A document with matching rows is one result, at the place of its first
    /// matching row. If <see cref="CompiledQuery.ReturnsEachRow"/> is set, each matching row is a result.
    /// </summary>
    /// <param name="document">The document; <c>default</c> for a reduced row, which belongs to no document.</param>
    /// <param name="rows">The members of its rows, without braces.</param>
    public void AddRows(in QueriedDocument document, IReadOnlyList<byte[]> rows)
    {
        if (!_compiled.Intersects(document, rows, _work))
        {
            return;
        }

        byte[]? firstRow = null;
        double firstScore = 0;
        foreach (byte[] row in rows)
        {
            var queried = document.WithRow(row);
            if (!_compiled.TryScore(queried, _work, out double score))
            {
                continue;
            }

            if (_compiled.ReturnsEachRow)
            {
                AddMatch(queried with { Score = score }, row);
            }
            else if (firstRow is null || ComesBefore(queried, score))
            {
                (firstRow, firstScore) = (row, score);
                _firstRowKey.Clear();
                _compiled.Sort.Write(queried with { Score = score }, _work, _firstRowKey);
            }
        }

        if (firstRow is not null)
        {
            AddMatch(document.WithRow(firstRow) with { Score = firstScore }, row: null);
        }
    }

    /// <summary>
    /// Adds the matching rows of a document to a summary. Each row that matches <c>where</c> counts towards
    /// <c>filter_limit</c>.
    /// </summary>
    /// <param name="document">The document; <c>default</c> for a reduced row, which belongs to no document.</param>
    /// <param name="rows">The members of its rows, without braces.</param>
    /// <param name="summary">The summary.</param>
    public void AddRows(in QueriedDocument document, IReadOnlyList<byte[]> rows, SummaryRun summary)
    {
        if (!_compiled.Intersects(document, rows, _work))
        {
            return;
        }

        foreach (byte[] row in rows)
        {
            var queried = document.WithRow(row);
            if (!_compiled.Matches(queried, _work))
            {
                continue;
            }

            _matched++;
            IsComplete |= _matched >= _compiled.FilterLimit;
            if (_matched > _compiled.FilterLimit)
            {
                return;
            }

            if (_compiled.Filter is null || _compiled.Filter.Matches(queried.Whole, _work))
            {
                summary.Add(queried);
            }
        }
    }

    /// <summary>
    /// Evaluates a group from an index, instead of its documents. The caller adds groups in the order of their keys.
    /// </summary>
    /// <param name="row">The members of its row, without braces.</param>
    internal void AddGroup(byte[] row) => Evaluate(new QueriedDocument(row), row);

    /// <summary>Ends the evaluation and returns the results that were collected.</summary>
    public ScanResults Finish()
    {
        foreach (byte[] row in _groups?.Rows() ?? [])
        {
            Evaluate(new QueriedDocument(row), row);
        }

        if (IsStreamed)
        {
            return new ScanResults(_compiled, ArraySegment<ScanHit>.Empty, _total);
        }

        ScanHit[] sorted = _firstHitByHash is null
            ? _hits!.InOrder()
            : HitHeap.Sort(_compiled.Sort, _firstHitByHash.Values);
        if (_compiled.FilterLimit is not null)
        {
            sorted = SelectPassing(sorted);
        }
        if (_firstHitByHash is not null || _compiled.FilterLimit is not null)
        {
            _total = sorted.Length;
        }
        int from = (int)Math.Min(_compiled.Offset, sorted.Length);
        int to = (int)Math.Min(_pageEnd, sorted.Length);
        return new ScanResults(_compiled, new ArraySegment<ScanHit>(sorted, from, to - from), _total);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _memory.Dispose();
        _work.Release();
        _groups?.Release();
        _sortKey.Release();
        _firstRowKey.Release();
        _plainContent.Release();
    }

    private bool ComesBefore(in QueriedDocument queried, double score)
    {
        _sortKey.Clear();
        _compiled.Sort.Write(queried with { Score = score }, _work, _sortKey);
        return _compiled.Sort.Compare(_sortKey.Written, _firstRowKey.Written) < 0;
    }

    /// <summary>Evaluates a document or the row of a group.</summary>
    private bool Evaluate(in QueriedDocument document, byte[]? row) =>
        _compiled.TryScore(document, _work, out double score) && AddMatch(document with { Score = score }, row);

    private bool AddMatch(in QueriedDocument document, byte[]? row)
    {
        _matched++;
        bool passes = _compiled.Filter is null || _compiled.Filter.Matches(document.Whole, _work);
        if (IsStreamed)
        {
            Score = _compiled.IsScored ? document.Score : null;
            return CountAndTestPage(document, passes);
        }

        // With 'filter_limit', documents that 'filter' rejects count towards the limit, so they are collected, too.
        // Finish removes them.
        if (passes || _compiled.FilterLimit is not null)
        {
            Collect(document, row, passes, document.Score);
        }

        return false;
    }

    /// <summary>Counts an unsorted result and returns whether it is on the page. Keeps nothing of it.</summary>
    private bool CountAndTestPage(in QueriedDocument document, bool passes)
    {
        IsComplete |= _matched >= _compiled.FilterLimit;
        if (!passes || _matched > _compiled.FilterLimit)
        {
            return false;
        }

        bool isRepeated = _seenHashes is not null && !TryAddHash(document);
        if (isRepeated)
        {
            return false;
        }

        _total++;
        IsComplete |= !_needsTotal && _total >= _pageEnd;
        return _total > _compiled.Offset && _total <= _pageEnd;
    }

    private bool TryAddHash(in QueriedDocument document)
    {
        UInt128 hash = HashOf(document);
        if (_seenHashes!.Contains(hash))
        {
            return false;
        }

        _memory.Reserve(BytesPerHash);
        _seenHashes.Add(hash);
        return true;
    }

    private void Collect(in QueriedDocument document, byte[]? row, bool passes, double score)
    {
        if (passes)
        {
            _total++;
        }
        _ordinal++;
        _sortKey.Clear();
        _compiled.Sort.Write(document, _work, _sortKey);
        if (_firstHitByHash is not null)
        {
            CollectDistinct(document, row, score);
        }
        else if (_hits!.WouldKeep(_sortKey.Written, _ordinal))
        {
            UInt128 hash = _compiled.IsDistinct ? HashOf(document) : 0;
            var displaced = _hits.Add(CreateHit(document, row, passes, hash, score));
            _memory.Release(displaced?.Bytes ?? 0);
        }
    }

    /// <summary>Keeps the first of several equal results.</summary>
    private void CollectDistinct(in QueriedDocument document, byte[]? row, double score)
    {
        UInt128 hash = HashOf(document);
        if (!_firstHitByHash!.TryGetValue(hash, out ScanHit? previous))
        {
            _memory.Reserve(BytesPerHash);
        }
        else if (_compiled.Sort.Compare(_sortKey.Written, previous.SortKey) >= 0)
        {
            return;
        }

        _firstHitByHash[hash] = CreateHit(document, row, passes: true, hash, score);
        _memory.Release(previous?.Bytes ?? 0);
    }

    private ScanHit CreateHit(in QueriedDocument document, byte[]? row, bool passes, UInt128 hash, double score)
    {
        ReadOnlySpan<byte> id = document.View.Id;
        _memory.Reserve(ScanHit.BaseBytes + _sortKey.Length + id.Length + (row?.Length ?? 0));
        return new ScanHit
        {
            SortKey = _sortKey.Written.ToArray(),
            Ordinal = _ordinal,
            Etag = document.Etag,
            Id = id.ToArray(),
            Row = row,
            Score = score,
            ContentHash = hash,
            Passes = passes,
        };
    }

    /// <summary>Returns the results that pass <c>filter</c>, each once for <c>select distinct</c>.</summary>
    private ScanHit[] SelectPassing(ScanHit[] sorted)
    {
        IEnumerable<ScanHit> passing = sorted.Where(static hit => hit.Passes);
        return [.. _compiled.IsDistinct ? passing.DistinctBy(static hit => hit.ContentHash) : passing];
    }

    /// <summary>Returns the first 16 bytes of a hash of the result's JSON.</summary>
    private UInt128 HashOf(in QueriedDocument document)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        if (_compiled.ReturnsDocuments)
        {
            HashContent(document.Whole.Members, hash);
        }
        else
        {
            _projected.ResetWrittenCount();
            _compiled.WriteMembers(document, _projected, _limits);
            HashContent(_projected.WrittenSpan, hash);
        }

        return BinaryPrimitives.ReadUInt128LittleEndian(hash);
    }

    /// <summary>Hashes members. Texts that differ only in their escapes get equal hashes.</summary>
    private void HashContent(ReadOnlySpan<byte> members, Span<byte> hash)
    {
        if (!members.Contains((byte)'\\'))
        {
            SHA256.HashData(members, hash);
            return;
        }

        _plainContent.Clear();
        CanonicalJson.AppendWithPlainTexts(members, _plainContent);
        SHA256.HashData(_plainContent.Written, hash);
    }
}
