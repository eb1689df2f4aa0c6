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
    private const int BytesPerContent = 64;

    private readonly CompiledQuery _plan;
    private readonly ScanMemory _memory;
    private readonly ScanWork _work;
    private readonly IScanClock _clock;
    private readonly bool _needsTotal;
    private readonly GroupTable? _groups;
    private readonly HitHeap? _hits;
    private readonly Dictionary<UInt128, ScanHit>? _firstOfContent;
    private readonly HashSet<UInt128>? _contents;
    private readonly PooledBytes _sortKey = new();
    private readonly PooledBytes _firstKey = new();
    private readonly PooledBytes _plainContent = new();
    private readonly ArrayBufferWriter<byte> _projected = new();
    private readonly long _pageEnd;
    private long _ordinal;
    private long _filtered;
    private long _total;

    internal ScanRun(CompiledQuery plan, QueryMemory memory, IScanClock clock, bool needsTotal)
    {
        _plan = plan;
        _needsTotal = needsTotal;
        _clock = clock;
        _memory = new ScanMemory(memory);
        _work = new ScanWork(clock);
        _pageEnd = plan.PageEnd;
        _groups = plan.Groups is null ? null : new GroupTable(plan.Groups, _memory);
        bool isStreamed = plan.Sort.IsEmpty && _groups is null && plan.Rows is null;
        if (isStreamed)
        {
            _contents = plan.IsDistinct ? [] : null;
        }
        else if (plan.IsDistinct && plan.FilterLimit is null)
        {
            _firstOfContent = [];
        }
        else
        {
            _hits = new HitHeap(plan.Sort, plan.FilterLimit ?? _pageEnd);
        }
    }

    /// <summary>Whether no further document can change the answer.</summary>
    public bool IsComplete { get; private set; }

    /// <summary>
    /// The score of the result that <see cref="Add"/> just returned; null if the query does not score.
    /// </summary>
    public double? Score { get; private set; }

    /// <summary>
    /// Whether a document matches the query's conditions. Always true for a grouped query, whose conditions apply to
    /// groups.
    /// </summary>
    public bool Matches(in QueriedDocument document) =>
        _groups is not null
        || (_plan.Matches(document, _work) && (_plan.Filter is null || _plan.Filter.Matches(document.Whole, _work)));

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

        return Consider(document, row: null);
    }

    /// <summary>
    /// Evaluates the index rows of a document. A document with matching rows is one result, at the place of its first
    /// matching row. If <see cref="CompiledQuery.ReturnsEachRow"/> is set, each matching row is a result.
    /// </summary>
    /// <param name="document">The document; the default for a reduced row.</param>
    /// <param name="rows">The members of its rows, without braces.</param>
    public void AddRows(in QueriedDocument document, IReadOnlyList<byte[]> rows)
    {
        if (!_plan.Intersects(document, rows, _work))
        {
            return;
        }

        byte[]? first = null;
        double firstScore = 0;
        foreach (byte[] row in rows)
        {
            var queried = document.WithRow(row);
            if (!_plan.TryScore(queried, _work, out double score))
            {
                continue;
            }

            if (_plan.ReturnsEachRow)
            {
                ConsiderMatch(queried with { Score = score }, row);
            }
            else if (first is null || ComesBefore(queried, score))
            {
                (first, firstScore) = (row, score);
                _firstKey.Clear();
                _plan.Sort.Write(queried with { Score = score }, _work, _firstKey);
            }
        }

        if (first is not null)
        {
            ConsiderMatch(document.WithRow(first) with { Score = firstScore }, row: null);
        }
    }

    /// <summary>Adds the matching rows of a document to a summary.</summary>
    /// <param name="document">The document; the default for a reduced row.</param>
    /// <param name="rows">The members of its rows, without braces.</param>
    /// <param name="summary">The summary.</param>
    public void AddRows(in QueriedDocument document, IReadOnlyList<byte[]> rows, SummaryRun summary)
    {
        if (!_plan.Intersects(document, rows, _work))
        {
            return;
        }

        foreach (byte[] row in rows)
        {
            var queried = document.WithRow(row);
            if (Matches(queried))
            {
                summary.Add(queried);
            }
        }
    }

    /// <summary>
    /// Evaluates a group from an index, instead of its documents. The caller adds groups in the order of their keys.
    /// </summary>
    /// <param name="row">The members of its row, without braces.</param>
    internal void AddGroup(byte[] row) => Consider(new QueriedDocument(row), row);

    /// <summary>Ends the evaluation and returns the results that <see cref="Add"/> did not return.</summary>
    public ScanResults Finish()
    {
        foreach (byte[] row in _groups?.Rows() ?? [])
        {
            Consider(new QueriedDocument(row), row);
        }

        if (_hits is null && _firstOfContent is null)
        {
            return new ScanResults(_plan, ArraySegment<ScanHit>.Empty, _total);
        }

        ScanHit[] sorted = _firstOfContent is null
            ? _hits!.InOrder()
            : HitHeap.Sort(_plan.Sort, _firstOfContent.Values);
        if (_plan.FilterLimit is not null)
        {
            sorted = Filtered(sorted);
        }

        _total = _firstOfContent is null && _plan.FilterLimit is null ? _total : sorted.Length;
        int from = (int)Math.Min(_plan.Offset, sorted.Length);
        int to = (int)Math.Min(_pageEnd, sorted.Length);
        return new ScanResults(_plan, new ArraySegment<ScanHit>(sorted, from, to - from), _total);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _memory.Dispose();
        _work.Release();
        _groups?.Release();
        _sortKey.Release();
        _firstKey.Release();
        _plainContent.Release();
    }

    private bool ComesBefore(in QueriedDocument queried, double score)
    {
        _sortKey.Clear();
        _plan.Sort.Write(queried with { Score = score }, _work, _sortKey);
        return _plan.Sort.Compare(_sortKey.Written, _firstKey.Written) < 0;
    }

    /// <summary>Evaluates a document or the row of a group.</summary>
    private bool Consider(in QueriedDocument document, byte[]? row) =>
        _plan.TryScore(document, _work, out double score) && ConsiderMatch(document with { Score = score }, row);

    private bool ConsiderMatch(in QueriedDocument document, byte[]? row)
    {
        bool passes = _plan.Filter is null || _plan.Filter.Matches(document.Whole, _work);
        if (_hits is null && _firstOfContent is null)
        {
            Score = _plan.IsScored ? document.Score : null;
            return Stream(document, passes);
        }

        if (passes || _plan.FilterLimit is not null)
        {
            Collect(document, row, passes, document.Score);
        }

        return false;
    }

    /// <summary>Decides whether an unsorted result is on the page. Keeps nothing of it.</summary>
    private bool Stream(in QueriedDocument document, bool passes)
    {
        _filtered++;
        IsComplete |= _filtered >= _plan.FilterLimit;
        if (!passes || _filtered > _plan.FilterLimit || (_contents is not null && !AddContent(document)))
        {
            return false;
        }

        _total++;
        IsComplete |= !_needsTotal && _total >= _pageEnd;
        return _total > _plan.Offset && _total <= _pageEnd;
    }

    private bool AddContent(in QueriedDocument document)
    {
        UInt128 content = ContentOf(document);
        if (_contents!.Contains(content))
        {
            return false;
        }

        _memory.Take(BytesPerContent);
        _contents.Add(content);
        return true;
    }

    private void Collect(in QueriedDocument document, byte[]? row, bool passes, double score)
    {
        _total += passes ? 1 : 0;
        _ordinal++;
        _sortKey.Clear();
        _plan.Sort.Write(document, _work, _sortKey);
        if (_firstOfContent is not null)
        {
            CollectDistinct(document, row, score);
        }
        else if (_hits!.Wants(_sortKey.Written, _ordinal))
        {
            UInt128 content = _plan.IsDistinct ? ContentOf(document) : 0;
            _memory.Give(_hits.Add(TakeHit(document, row, passes, content, score))?.Bytes ?? 0);
        }
    }

    /// <summary>Keeps the first of several equal results.</summary>
    private void CollectDistinct(in QueriedDocument document, byte[]? row, double score)
    {
        UInt128 content = ContentOf(document);
        if (!_firstOfContent!.TryGetValue(content, out ScanHit? known))
        {
            _memory.Take(BytesPerContent);
        }
        else if (_plan.Sort.Compare(_sortKey.Written, known.SortKey) >= 0)
        {
            return;
        }

        _firstOfContent[content] = TakeHit(document, row, passes: true, content, score);
        _memory.Give(known?.Bytes ?? 0);
    }

    private ScanHit TakeHit(in QueriedDocument document, byte[]? row, bool passes, UInt128 content, double score)
    {
        ReadOnlySpan<byte> id = document.View.Id;
        _memory.Take(ScanHit.BaseBytes + _sortKey.Length + id.Length + (row?.Length ?? 0));
        return new ScanHit
        {
            SortKey = _sortKey.Written.ToArray(),
            Ordinal = _ordinal,
            Etag = document.Etag,
            Id = id.ToArray(),
            Row = row,
            Score = score,
            Content = content,
            Passes = passes,
        };
    }

    /// <summary>Returns the results that pass <c>filter</c>, each once for <c>select distinct</c>.</summary>
    private ScanHit[] Filtered(ScanHit[] sorted)
    {
        IEnumerable<ScanHit> passing = sorted.Where(static hit => hit.Passes);
        return [.. _plan.IsDistinct ? passing.DistinctBy(static hit => hit.Content) : passing];
    }

    /// <summary>Returns the first 16 bytes of a hash of the result's JSON.</summary>
    private UInt128 ContentOf(in QueriedDocument document)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        if (_plan.ReturnsDocuments)
        {
            HashContent(document.Whole.Members, hash);
        }
        else
        {
            _projected.ResetWrittenCount();
            _plan.WriteMembers(document, _projected, _clock);
            HashContent(_projected.WrittenSpan, hash);
        }

        return BinaryPrimitives.ReadUInt128LittleEndian(hash);
    }

    /// <summary>Hashes members so that texts are equal however they are escaped.</summary>
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
