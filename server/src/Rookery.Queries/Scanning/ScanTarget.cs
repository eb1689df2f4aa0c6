using System.Text;
using Rookery.Json;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;

namespace Rookery.Queries.Scanning;

/// <summary>
/// The documents that a scan reads, because no others can match. All conditions are still evaluated on them.
/// </summary>
/// <param name="Collection">The collection; null for all documents.</param>
/// <param name="Ids">The ids, distinct and sorted; null if the query names none.</param>
/// <param name="IdPrefix">The prefix of ids; null if the query has none, or if <paramref name="Ids"/> is set.</param>
public sealed record ScanTarget(string? Collection, IReadOnlyList<string>? Ids, string? IdPrefix)
{
    /// <summary>
    /// Finds the target of a query. A condition on ids counts if it is the whole of <c>where</c> or an operand of its
    /// outermost <c>and</c>.
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
            return new(collection, Ids: null, IdPrefix: null); // the conditions apply to groups
        }

        IReadOnlyList<Condition> all = query.Where switch
        {
            null => [],
            AndCondition and => and.Conditions,
            { } single => [single],
        };

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

    /// <summary>Whether a condition restricts nothing but ids.</summary>
    internal static bool IsOnIds(Condition condition, OperandValues operands) =>
        IdsOf(condition, operands) is not null || PrefixOf(condition, operands) is not null;

    private static string[]? IdsOf(Condition condition, OperandValues operands) =>
        condition switch
        {
            ComparisonCondition { Field: IdReference, Operator: ComparisonOperator.Equal } equal => Texts([
                operands.ReadScalar(equal.Value),
            ]),
            InCondition { Field: IdReference, IsAll: false } isIn => Texts(operands.ReadElements(isIn.Values)),
            ExactCondition exact => IdsOf(exact.Inner, operands),
            _ => null,
        };

    private static string? PrefixOf(Condition condition, OperandValues operands) =>
        condition switch
        {
            TextCondition { Kind: TextConditionKind.StartsWith, Field: IdReference } prefix => Encoding.UTF8.GetString(
                operands.ReadText(prefix.Text, "startsWith")
            ),
            ExactCondition exact => PrefixOf(exact.Inner, operands),
            _ => null,
        };

    /// <summary>Returns distinct ids in the order of ids.</summary>
    public static string[] InOrder(IEnumerable<string> ids) =>
        [
            .. ids.DistinctBy(static id => id.ToLowerInvariant(), StringComparer.Ordinal)
                .OrderBy(
                    static id => Encoding.UTF8.GetBytes(id.ToLowerInvariant()),
                    Comparer<byte[]>.Create(static (one, other) => one.AsSpan().SequenceCompareTo(other))
                ),
        ];

    /// <summary>Whether a condition on ids restricts the documents.</summary>
    public bool NamesIds => Ids is not null || IdPrefix is not null;

    /// <summary>Returns the texts among values as sorted ids. Other values match no id.</summary>
    private static string[] Texts(IEnumerable<byte[]> values) =>
        InOrder(values.Where(static json => json[0] == (byte)'"').Select(Unquote));

    private static string Unquote(byte[] json)
    {
        byte[] text = new byte[json.Length];
        return Encoding.UTF8.GetString(text, 0, JsonText.Unescape(json.AsSpan(1, json.Length - 2), text));
    }
}
