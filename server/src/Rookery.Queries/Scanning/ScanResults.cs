using System.Buffers;
using Rookery.Indexing.Values;

namespace Rookery.Queries.Scanning;

/// <summary>A document that is a result.</summary>
/// <param name="Etag">Its etag when it was evaluated.</param>
/// <param name="Id">Its id, in UTF-8.</param>
/// <param name="Score">Its score; null if the query does not score.</param>
/// <param name="Row">The members of the index row that is the result, without braces; empty if the document is the
/// result.</param>
public readonly record struct ScannedDocument(
    long Etag,
    ReadOnlyMemory<byte> Id,
    double? Score = null,
    ReadOnlyMemory<byte> Row = default
);

/// <summary>The results at the end of an evaluation. Valid until its run is disposed.</summary>
public sealed class ScanResults
{
    private readonly CompiledQuery _compiled;
    private readonly ArraySegment<ScanHit> _page;

    internal ScanResults(CompiledQuery compiled, ArraySegment<ScanHit> page, long totalResults)
    {
        _compiled = compiled;
        _page = page;
        TotalResults = totalResults;
    }

    /// <summary>Creates the results from a page of groups.</summary>
    /// <param name="compiled">The compiled query.</param>
    /// <param name="rows">The groups' rows, in the order of the answer.</param>
    /// <param name="totalResults">Number of groups, on the page or not.</param>
    internal static ScanResults OfGroups(CompiledQuery compiled, IEnumerable<byte[]> rows, long totalResults)
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
        return new ScanResults(compiled, new ArraySegment<ScanHit>(hits), totalResults);
    }

    /// <summary>
    /// Number of results, on the page or not. If results after the page are not counted, the number of results found so
    /// far.
    /// </summary>
    public long TotalResults { get; }

    /// <summary>
    /// Documents of the page that <see cref="ScanRun.Add"/> did not return, in order. The caller reads and writes them
    /// from the same snapshot.
    /// </summary>
    public IEnumerable<ScannedDocument> Documents =>
        _compiled.Groups is null
            ? _page.Select(hit => new ScannedDocument(hit.Etag, hit.Id, _compiled.IsScored ? hit.Score : null, hit.Row))
            : [];

    /// <summary>Number of groups on the page.</summary>
    public int GroupCount => _compiled.Groups is null ? 0 : _page.Count;

    /// <summary>Writes the members of a group of the page, without braces.</summary>
    /// <param name="group">The position of the group on the page, from 0.</param>
    /// <param name="output">Receives the JSON.</param>
    public void WriteMembers(int group, IBufferWriter<byte> output) =>
        _compiled.WriteMembers(new QueriedDocument(_page[group].Row), output);
}
