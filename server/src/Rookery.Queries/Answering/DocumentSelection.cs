using System.Text.Json;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;

namespace Rookery.Queries.Answering;

/// <summary>How a condition selects documents by id.</summary>
internal enum IdConditionKind
{
    /// <summary>The id is one of <see cref="IdCondition.Values"/>.</summary>
    OneOf,

    /// <summary>The id begins with the single item of <see cref="IdCondition.Values"/>.</summary>
    StartsWith,
}

/// <summary>A condition on document ids.</summary>
/// <param name="Kind">How to compare.</param>
/// <param name="Values">Sorted ids, or one prefix.</param>
internal sealed record IdCondition(IdConditionKind Kind, IReadOnlyList<string> Values)
{
    /// <summary>Returns the condition if it restricts nothing but ids; otherwise null.</summary>
    /// <exception cref="QueryException">A parameter is missing, or a compared value is not text.</exception>
    public static IdCondition? TryRead(Condition? condition, OperandValues operands) =>
        condition switch
        {
            ComparisonCondition { Field: IdReference, Operator: ComparisonOperator.Equal } equal => new(
                IdConditionKind.OneOf,
                Texts([operands.ReadScalar(equal.Value)], equal.Value.Position)
            ),
            InCondition { Field: IdReference, IsAll: false } isIn => new(
                IdConditionKind.OneOf,
                ScanTarget.InOrder(Texts(operands.ReadElements(isIn.Values), isIn.Position))
            ),
            TextCondition { Field: IdReference, Kind: TextConditionKind.StartsWith } prefix => new(
                IdConditionKind.StartsWith,
                [OneText(prefix.Text, operands)]
            ),
            _ => null,
        };

    private static string OneText(Operand operand, OperandValues operands) =>
        Texts([operands.ReadScalar(operand)], operand.Position) is [var text]
            ? text
            : throw new QueryException(QueryFault.Invalid, "startsWith(id(), …) needs one text.", operand.Position);

    // The values are JSON; an error names the position in the query's text.
    private static List<string> Texts(IEnumerable<byte[]> values, int position)
    {
        var texts = new List<string>();
        foreach (byte[] json in values)
        {
            var reader = new Utf8JsonReader(json);
            reader.Read();
            switch (reader.TokenType)
            {
                case JsonTokenType.String:
                    texts.Add(reader.GetString()!);
                    break;
                case JsonTokenType.Null:
                    break; // no id is null
                default:
                    throw new QueryException(QueryFault.Invalid, "An id is a text.", position);
            }
        }

        return texts;
    }
}

/// <summary>
/// The documents that a query reads, by collection and ids; and the page to return, if all documents are results.
/// </summary>
internal sealed record DocumentSelection
{
    /// <summary>Returns the documents that a scan has to read, without a page.</summary>
    public static DocumentSelection Of(ScanTarget target) =>
        new()
        {
            Collection = target.Collection,
            Condition = target switch
            {
                { Ids: { } ids } => new IdCondition(IdConditionKind.OneOf, ids),
                { IdPrefix: { } prefix } => new IdCondition(IdConditionKind.StartsWith, [prefix]),
                _ => null,
            },
        };

    /// <summary>The collection, or null for all.</summary>
    public required string? Collection { get; init; }

    /// <summary>The condition on ids, or null for all documents.</summary>
    public IdCondition? Condition { get; init; }

    /// <summary>Documents to skip.</summary>
    public long Offset { get; init; }

    /// <summary>Documents to return, at most; null for all.</summary>
    public long? Limit { get; init; }
}
