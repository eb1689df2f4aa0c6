using System.Buffers;
using Rookery.Indexing.Values;

namespace Rookery.Queries.Scanning;

/// <summary>A document that is a result.</summary>
/// <param name="Etag">Its etag when it was looked at.</param>
/// <param name="Id">Its id, in UTF-8.</param>
/// <param name="Score">How relevant it is; null where the query does not ask for that.</param>
/// <param name="Row">Of an index, the members of the row that is the result, without braces; empty where the document
/// is.</param>
public readonly record struct ScannedDocument(
    long Etag,
    ReadOnlyMemory<byte> Id,
    double? Score = null,
    ReadOnlyMemory<byte> Row = default
);

/// <summary>The end of a scan. Valid until its run is disposed.</summary>
public sealed class ScanResults
{
    private readonly ScanPlan _plan;
    private readonly ArraySegment<ScanHit> _page;

    internal ScanResults(ScanPlan plan, ArraySegment<ScanHit> page, long totalResults)
    {
        _plan = plan;
        _page = page;
        TotalResults = totalResults;
    }

    /// <summary>A page of groups.</summary>
    /// <param name="plan">The query.</param>
    /// <param name="rows">Their rows, in the order of the answer.</param>
    /// <param name="totalResults">How many there are, on the page or not.</param>
    internal static ScanResults OfGroups(ScanPlan plan, IEnumerable<byte[]> rows, long totalResults)
    {
        ScanHit[] hits =
        [
            .. rows.Select(static row => new ScanHit
            {
                SortKey = [],
                Ordinal = 0,
                Etag = 0,
                Id = [],
                Row = row,
            }),
        ];
        return new ScanResults(plan, new ArraySegment<ScanHit>(hits), totalResults);
    }

    /// <summary>
    /// How many results there are, on the page or not; of a run that does not count them, how many it saw.
    /// </summary>
    public long TotalResults { get; }

    /// <summary>
    /// Documents of the page that <see cref="ScanRun.Add"/> did not ask for, in their order: the caller reads and
    /// writes them now, from the same snapshot.
    /// </summary>
    public IEnumerable<ScannedDocument> Documents =>
        _plan.Groups is null
            ? _page.Select(hit => new ScannedDocument(hit.Etag, hit.Id, _plan.IsScored ? hit.Score : null, hit.Row))
            : [];

    /// <summary>Groups of the page.</summary>
    public int GroupCount => _plan.Groups is null ? 0 : _page.Count;

    /// <summary>Writes the members of a group of the page, without braces.</summary>
    /// <param name="group">Which one, from 0.</param>
    /// <param name="output">Where to.</param>
    public void WriteMembers(int group, IBufferWriter<byte> output) =>
        _plan.WriteMembers(new QueriedDocument(_page[group].Row), output);
}
