using System.Text;
using Rookery.Json;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;

namespace Rookery.Queries.Scanning;

/// <summary>
/// Which documents a scan has to look at: no others can match. Those it looks at are still compared with all
/// conditions.
/// </summary>
/// <param name="Collection">The collection; null for all documents.</param>
/// <param name="Ids">The only ids, each once, in the order of ids; null when they are not named.</param>
/// <param name="IdPrefix">What ids begin with; null when it is not named, or ids are.</param>
public sealed record ScanTarget(string? Collection, IReadOnlyList<string>? Ids, string? IdPrefix)
{
    /// <summary>
    /// Finds the target of a query: the condition on ids is the whole of <c>where</c>, or one of what <c>and</c> joins.
    /// </summary>
    internal static ScanTarget Find(Query query, OperandValues operands)
    {
        string? collection = query.Source.Kind switch
        {
            SourceKind.Collection => query.Source.Name,
            SourceKind.AllDocuments => null,
            _ => throw new QueryException(
                QueryFault.NotSupported,
                "'from index' is not supported here: it names an index, and documents are read.",
                query.Source.Position
            ),
        };
        if (query.GroupBy.Count > 0)
        {
            return new(collection, null, null); // its conditions are on groups
        }

        if (query.Where is not AndCondition { Conditions: var all })
        {
            return query.Where is null || IdsOf(query.Where, operands) is not { } only
                ? new(collection, null, query.Where is null ? null : PrefixOf(query.Where, operands))
                : new(collection, only, null);
        }

        string[]? ids = null;
        for (int i = 0; ids is null && i < all.Count; i++)
        {
            ids = IdsOf(all[i], operands);
        }

        string? prefix = null;
        for (int i = 0; ids is null && prefix is null && i < all.Count; i++)
        {
            prefix = PrefixOf(all[i], operands);
        }

        return new(collection, ids, prefix);
    }

    private static string[]? IdsOf(Condition condition, OperandValues operands) =>
        condition switch
        {
            ComparisonCondition { Field: IdReference, Operator: ComparisonOperator.Equal } equal => Texts([
                operands.Scalar(equal.Value),
            ]),
            InCondition { Field: IdReference, IsAll: false } isIn => Texts(operands.Elements(isIn.Values)),
            ExactCondition exact => IdsOf(exact.Inner, operands),
            _ => null,
        };

    private static string? PrefixOf(Condition condition, OperandValues operands) =>
        condition switch
        {
            TextCondition { Kind: TextConditionKind.StartsWith, Field: IdReference } prefix => Encoding.UTF8.GetString(
                operands.Text(prefix.Text, "startsWith")
            ),
            ExactCondition exact => PrefixOf(exact.Inner, operands),
            _ => null,
        };

    /// <summary>Each of some ids once, in the order of ids.</summary>
    public static string[] InOrder(IEnumerable<string> ids) =>
        [
            .. ids.DistinctBy(static id => id.ToLowerInvariant(), StringComparer.Ordinal)
                .OrderBy(
                    static id => Encoding.UTF8.GetBytes(id.ToLowerInvariant()),
                    Comparer<byte[]>.Create(static (one, other) => one.AsSpan().SequenceCompareTo(other))
                ),
        ];

    /// <summary>Whether a condition on ids narrows the documents.</summary>
    public bool NamesIds => Ids is not null || IdPrefix is not null;

    /// <summary>Ids are texts: other values match none.</summary>
    private static string[] Texts(IEnumerable<byte[]> values) =>
        InOrder(values.Where(static json => json[0] == (byte)'"').Select(Unquote));

    private static string Unquote(byte[] json)
    {
        byte[] text = new byte[json.Length];
        return Encoding.UTF8.GetString(text, 0, JsonText.Unescape(json.AsSpan(1, json.Length - 2), text));
    }
}
