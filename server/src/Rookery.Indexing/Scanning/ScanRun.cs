using System.Buffers;
using System.Buffers.Binary;
using System.Security.Cryptography;
using Rookery.Disk;
using Rookery.Documents.Json;
using Rookery.Indexing.Summaries;
using Rookery.Indexing.Values;

namespace Rookery.Indexing.Scanning;

/// <summary>One answer to a query. For one thread; gives its memory back when it is disposed.</summary>
public sealed class ScanRun : IDisposable
{
    private const int BytesPerContent = 64;

    private readonly ScanPlan plan;
    private readonly ScanMemory memory;
    private readonly ScanWork work;
    private readonly IScanClock clock;
    private readonly bool needsTotal;
    private readonly GroupTable? groups;
    private readonly HitHeap? hits;
    private readonly Dictionary<UInt128, ScanHit>? firstOfContent;
    private readonly HashSet<UInt128>? contents;
    private readonly PooledBytes sortKey = new();
    private readonly PooledBytes firstKey = new();
    private readonly PooledBytes plainContent = new();
    private readonly ArrayBufferWriter<byte> projected = new();
    private readonly long pageEnd;
    private long ordinal;
    private long filtered;
    private long total;

    internal ScanRun(ScanPlan plan, MemoryShare share, IScanClock clock, bool needsTotal)
    {
        this.plan = plan;
        this.needsTotal = needsTotal;
        this.clock = clock;
        memory = new ScanMemory(share);
        work = new ScanWork(clock);
        pageEnd = plan.PageEnd;
        groups = plan.Groups is null ? null : new GroupTable(plan.Groups, memory);
        bool isStreamed = plan.Sort.IsEmpty && groups is null && plan.Rows is null;
        if (isStreamed)
        {
            contents = plan.IsDistinct ? [] : null;
        }
        else if (plan.IsDistinct && plan.FilterLimit is null)
        {
            firstOfContent = [];
        }
        else
        {
            hits = new HitHeap(plan.Sort, plan.FilterLimit ?? pageEnd);
        }
    }

    /// <summary>Whether no further document can change the answer.</summary>
    public bool IsComplete { get; private set; }

    /// <summary>How relevant the result is that is to be written now; null where the query does not ask for that.</summary>
    public double? Score { get; private set; }

    /// <summary>Whether a document satisfies the conditions of the query. Of a grouped query all do: its conditions are on groups.</summary>
    public bool Matches(in QueriedDocument document) => groups is not null || (plan.Matches(document, work) && (plan.Filter is null || plan.Filter.Matches(document.Whole, work)));

    /// <summary>Looks at the next document.</summary>
    /// <param name="document">The document.</param>
    /// <returns>Whether it is a result to be written now.</returns>
    public bool Add(in QueriedDocument document)
    {
        if (groups is not null)
        {
            groups.Add(document, work);
            return false;
        }

        return Consider(document, row: null);
    }

    /// <summary>Looks at what an index holds of a document. One document is one result, in the place of its first row in the order; rows of which the query wants stored values are a result each, and so are reduced ones.</summary>
    /// <param name="document">The document; a row where the index has reduced ones.</param>
    /// <param name="rows">The members of its rows, without braces.</param>
    public void AddRows(in QueriedDocument document, IReadOnlyList<byte[]> rows)
    {
        byte[]? first = null;
        double firstScore = 0;
        foreach (byte[] row in rows)
        {
            var queried = document.WithRow(row);
            if (!plan.TryScore(queried, work, out double score))
            {
                continue;
            }

            if (plan.IsOfEachRow)
            {
                ConsiderMatch(queried with { Score = score }, row);
            }
            else if (first is null || ComesBefore(queried, score))
            {
                (first, firstScore) = (row, score);
                firstKey.Clear();
                plan.Sort.Write(queried with { Score = score }, score, work, firstKey);
            }
        }

        if (first is not null)
        {
            ConsiderMatch(document.WithRow(first) with { Score = firstScore }, row: null);
        }
    }

    /// <summary>Gives those rows of a document to a summary that satisfy the conditions.</summary>
    /// <param name="document">The document; a row where the index has reduced ones.</param>
    /// <param name="rows">The members of its rows, without braces.</param>
    /// <param name="summary">Takes them.</param>
    public void AddRows(in QueriedDocument document, IReadOnlyList<byte[]> rows, SummaryRun summary)
    {
        foreach (byte[] row in rows)
        {
            var queried = document.WithRow(row);
            if (Matches(queried))
            {
                summary.Add(queried);
            }
        }
    }

    /// <summary>Takes a group that an index holds, in the place of its documents. Groups are given in the order of their keys.</summary>
    /// <param name="row">The members of its row, without braces.</param>
    internal void AddGroup(byte[] row) => Consider(new QueriedDocument(row), row);

    /// <summary>Ends the scan.</summary>
    public ScanResults Finish()
    {
        foreach (byte[] row in groups?.Rows() ?? [])
        {
            Consider(new QueriedDocument(row), row);
        }

        if (hits is null && firstOfContent is null)
        {
            return new ScanResults(plan, ArraySegment<ScanHit>.Empty, total);
        }

        ScanHit[] sorted = firstOfContent is null ? hits!.InOrder() : HitHeap.Sort(plan.Sort, firstOfContent.Values);
        if (plan.FilterLimit is not null)
        {
            sorted = Filtered(sorted);
        }

        total = firstOfContent is null && plan.FilterLimit is null ? total : sorted.Length;
        int from = (int)Math.Min(plan.Offset, sorted.Length);
        int to = (int)Math.Min(pageEnd, sorted.Length);
        return new ScanResults(plan, new ArraySegment<ScanHit>(sorted, from, to - from), total);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        memory.Dispose();
        work.Release();
        groups?.Release();
        sortKey.Release();
        firstKey.Release();
        plainContent.Release();
    }

    private bool ComesBefore(in QueriedDocument queried, double score)
    {
        sortKey.Clear();
        plan.Sort.Write(queried with { Score = score }, score, work, sortKey);
        return plan.Sort.Compare(sortKey.Written, firstKey.Written) < 0;
    }

    /// <summary>Looks at a document or at the row of a group.</summary>
    private bool Consider(in QueriedDocument document, byte[]? row) =>
        plan.TryScore(document, work, out double score) && ConsiderMatch(document with { Score = score }, row);

    private bool ConsiderMatch(in QueriedDocument document, byte[]? row)
    {
        bool passes = plan.Filter is null || plan.Filter.Matches(document.Whole, work);
        if (hits is null && firstOfContent is null)
        {
            Score = plan.IsScored ? document.Score : null;
            return Stream(document, passes);
        }

        if (passes || plan.FilterLimit is not null)
        {
            Collect(document, row, passes, document.Score);
        }

        return false;
    }

    /// <summary>Answers in the order of coming, and keeps nothing.</summary>
    private bool Stream(in QueriedDocument document, bool passes)
    {
        filtered++;
        IsComplete |= filtered >= plan.FilterLimit;
        if (!passes || filtered > plan.FilterLimit || (contents is not null && !AddContent(document)))
        {
            return false;
        }

        total++;
        IsComplete |= !needsTotal && total >= pageEnd;
        return total > plan.Offset && total <= pageEnd;
    }

    private bool AddContent(in QueriedDocument document)
    {
        UInt128 content = ContentOf(document);
        if (contents!.Contains(content))
        {
            return false;
        }

        memory.Take(BytesPerContent);
        contents.Add(content);
        return true;
    }

    private void Collect(in QueriedDocument document, byte[]? row, bool passes, double score)
    {
        total += passes ? 1 : 0;
        ordinal++;
        sortKey.Clear();
        plan.Sort.Write(document, score, work, sortKey);
        if (firstOfContent is not null)
        {
            CollectDistinct(document, row, score);
        }
        else if (hits!.Wants(sortKey.Written, ordinal))
        {
            UInt128 content = plan.IsDistinct ? ContentOf(document) : 0;
            memory.Give(hits.Add(TakeHit(document, row, passes, content, score))?.Bytes ?? 0);
        }
    }

    /// <summary>Of equal results the one stays that comes first in the order.</summary>
    private void CollectDistinct(in QueriedDocument document, byte[]? row, double score)
    {
        UInt128 content = ContentOf(document);
        if (!firstOfContent!.TryGetValue(content, out ScanHit? known))
        {
            memory.Take(BytesPerContent);
        }
        else if (plan.Sort.Compare(sortKey.Written, known.SortKey) >= 0)
        {
            return;
        }

        firstOfContent[content] = TakeHit(document, row, passes: true, content, score);
        memory.Give(known?.Bytes ?? 0);
    }

    private ScanHit TakeHit(in QueriedDocument document, byte[]? row, bool passes, UInt128 content, double score)
    {
        ReadOnlySpan<byte> id = document.View.Id;
        memory.Take(ScanHit.BaseBytes + sortKey.Length + id.Length + (row?.Length ?? 0));
        return new ScanHit
        {
            SortKey = sortKey.Written.ToArray(),
            Ordinal = ordinal,
            Etag = document.Etag,
            Id = id.ToArray(),
            Row = row,
            Score = score,
            Content = content,
            Passes = passes,
        };
    }

    /// <summary>Of the results that <c>filter</c> may look at, those that pass; each once when they are to be distinct.</summary>
    private ScanHit[] Filtered(ScanHit[] sorted)
    {
        IEnumerable<ScanHit> passing = sorted.Where(static hit => hit.Passes);
        return [.. plan.IsDistinct ? passing.DistinctBy(static hit => hit.Content) : passing];
    }

    /// <summary>Sixteen bytes of a hash of what is written of a result.</summary>
    private UInt128 ContentOf(in QueriedDocument document)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        if (plan.GivesDocuments)
        {
            HashContent(document.Whole.Members, hash);
        }
        else
        {
            projected.ResetWrittenCount();
            plan.WriteMembers(document, projected, clock);
            HashContent(projected.WrittenSpan, hash);
        }

        return BinaryPrimitives.ReadUInt128LittleEndian(hash);
    }

    /// <summary>Texts are equal however they are escaped.</summary>
    private void HashContent(ReadOnlySpan<byte> members, Span<byte> hash)
    {
        if (!members.Contains((byte)'\\'))
        {
            SHA256.HashData(members, hash);
            return;
        }

        plainContent.Clear();
        CanonicalJson.AppendWithPlainTexts(members, plainContent);
        SHA256.HashData(plainContent.Written, hash);
    }
}
