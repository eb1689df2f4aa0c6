using Rookery.Documents.Databases;
using Rookery.Queries.Answering;
using Rookery.Queries.Language;

namespace Rookery.Server.Raven.Queries;

/// <summary>
/// Makes the tags (HTTP ETag) of the answers to one query. Equal tags mean equal answers: a stale answer, which may
/// differ at the same etag, is sent without a tag.
/// </summary>
internal readonly struct QueryTags
{
    private readonly EntityTag _text;

    /// <summary>Creates the tags of a query.</summary>
    /// <param name="database">The database.</param>
    /// <param name="body">The request: the query with its parameters and options.</param>
    /// <param name="text">The text of the query.</param>
    public QueryTags(Database database, ReadOnlySpan<byte> body, string text)
    {
        _text = new EntityTag(database);
        _text.Add(body);
        ReadsCompareExchange = MayReadCompareExchange(text);
    }

    /// <summary>Whether the query may read compare-exchange values.</summary>
    public bool ReadsCompareExchange { get; }

    /// <summary>Returns whether the text of a query may read compare-exchange values.</summary>
    public static bool MayReadCompareExchange(string text) =>
        text.Contains("cmpxchg", StringComparison.OrdinalIgnoreCase);

    /// <summary>
    /// Reads when the next of the documents and values that the query may read expires. They expire without a change of
    /// the database's last etag. Costs one volatile read if the query reads no values and no document expires.
    /// </summary>
    public Expiries ReadExpiries(Database database)
    {
        if (!ReadsCompareExchange)
        {
            return new Expiries(database.ReadNextExpiry(), Value: 0);
        }

        using var reader = database.OpenReader();
        return ReadExpiries(reader);
    }

    /// <inheritdoc cref="ReadExpiries(Database)"/>
    public Expiries ReadExpiries(in DatabaseReader snapshot) =>
        new(
            ExpiredDocuments.ReadNextExpiry(snapshot),
            ReadsCompareExchange ? snapshot.ReadNextCompareExchangeExpiry() : 0
        );

    /// <summary>Returns the tag of an answer; null if its order is random.</summary>
    /// <param name="plan">The plan of the query.</param>
    /// <param name="lastEtag">The database's last etag, read before the answer's snapshot was opened, or in it.</param>
    /// <param name="expiries">Read after that etag.</param>
    public string? TagOf(QueryPlan plan, long lastEtag, Expiries expiries)
    {
        var tag = _text;
        tag.Add(plan.DefinitionNumber);
        tag.Add(lastEtag);
        if (expiries != default)
        {
            tag.Add(expiries.Document);
            tag.Add(expiries.Value);
        }

        return HasRandomOrder(plan.Query) ? null : tag.ToString();
    }

    private static bool HasRandomOrder(Query query) =>
        query.OrderBy.Count > 0 && query.OrderBy.Any(static order => order is { Kind: OrderKind.Random, Seed: null });

    /// <summary>When the data that a query reads next changes without a write.</summary>
    /// <param name="Document">When the next document expires, in UTC ticks; 0 if none does.</param>
    /// <param name="Value">When the next compare-exchange value expires, in UTC ticks; 0 if none does.</param>
    public readonly record struct Expiries(long Document, long Value);
}
